"""How close a citation is to what was retrieved: against scikit-learn, transformers, and arithmetic in sight."""

from __future__ import annotations

import json
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.assistant import embedding, evaluate
from turnwise.assistant.closeness import closest, passages_of, plain, tfidf
from turnwise.assistant.embedding import Embedding, SentenceModel, find_embedding
from turnwise.kernel.errors import UsageError

CHUNKS = (
    "Managers must attempt contact after each missed shift. Every attempt is recorded.",
    "Overtime is paid at one and a half times the rate.",
    "Fahrräder: bitte draußen. 猫がマットに座った。",
)


def test_two_texts_by_hand() -> None:
    """abcd has abc and bcd, abce has abc and bce: n = 2, so idf is 1 for abc and ln(3/2) + 1 for the others.

    The cosine is 1 / (1 + (ln 1.5 + 1)^2).
    """
    rare = log(3 / 2) + 1
    assert tfidf("abcd", [passages_of("abce")]) == pytest.approx([1 / (sqrt(1 + rare**2) * sqrt(1 + rare**2))])


@pytest.mark.parametrize("span", ["Per our policy, managers must attempt contact.", "overtime is paid", "猫が座った。"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_scikit_learn_gives_the_same_for_whole_chunks(span: str, count: int) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [plain(text) for text in (span, *CHUNKS[:count])]
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False).fit_transform(texts).toarray()
    expected = vectors[1:] @ vectors[0]
    whole = [passages_of(text, whole=True) for text in CHUNKS[:count]]
    assert tfidf(texts[0], whole) == pytest.approx(expected.tolist(), abs=1e-12)


def test_scikit_learn_gives_the_same_for_the_closest_sentence() -> None:
    """The sentences are weighted by what the whole chunks and the span say of each trigram."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    span = plain("Every attempt is recorded by the manager.")
    chunks = [passages_of(text) for text in CHUNKS[:2]]
    fitted = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
    fitted.fit([span, *(chunk.text for chunk in chunks)])
    own = fitted.transform([span]).toarray()[0]
    expected = [max(fitted.transform(chunk.texts).toarray() @ own) for chunk in chunks]
    assert len(chunks[0].texts) == 3
    assert tfidf(span, chunks) == pytest.approx(expected, abs=1e-12)


def test_a_sentence_word_for_word_is_exact_wherever_it_stands() -> None:
    passages = [passages_of("Hello.  Every ATTEMPT\nis recorded. Bye."), passages_of("Nothing.")]
    assert closest("Every attempt is recorded.", passages, tfidf)[0] == 1.0
    assert passages_of("One.\n\n- Two\n- Three").texts == ["one. - two - three", "one.", "- two", "- three"]


@given(st.text(max_size=30), st.lists(st.text(max_size=40), max_size=3))
def test_it_lies_between_0_and_1(span: str, chunks: list[str]) -> None:
    found = closest(span, [passages_of(chunk) for chunk in chunks], tfidf)
    assert len(found) == len(chunks)
    assert all(0 <= value <= 1 for value in found)


# --- the metric ---------------------------------------------------------------------------------------------

RULE = "Per our Attendance policy, three late arrivals lead to a conversation."


def accuracy(response: str, chunks: object, profile: str = "turnwise") -> tuple[float | None, str | None]:
    found = evaluate("q", response, chunks, 1, False, profile=profile, embedding="none")
    return found.citation_accuracy, found.missing.get("citation_accuracy")


def test_nothing_cited_or_nothing_retrieved_does_not_apply() -> None:
    """002-5: the document gives 0 for the first, and the largest of an empty list for the second."""
    assert accuracy("You should call.", [{"text": RULE}]) == (None, "nothing is cited")
    assert accuracy(RULE, []) == (None, "nothing was retrieved")
    assert accuracy(RULE, [{"text": " "}]) == (None, "nothing was retrieved")
    assert accuracy(RULE, None) == (None, "no chunks recorded")
    assert accuracy("You should call.", [{"text": RULE}], "spec") == (0.0, None)
    assert accuracy(RULE, [], "spec") == (None, "nothing was retrieved")


def test_every_cited_sentence_counts() -> None:
    """One word for word, one that has no trigram in common with any chunk but `per our` and `policy`."""
    chunks = [{"text": f"Welcome. {RULE}"}]
    other = "Per our Bonus policy, everybody gets a pony."
    alone = accuracy(other, chunks)[0]
    assert alone is not None
    assert 0 < alone < 0.5
    assert accuracy(RULE, chunks) == (1.0, None)
    assert accuracy(f"{RULE} {other}", chunks)[0] == pytest.approx((1 + alone) / 2)


def test_spec_compares_the_first_citation_with_whole_chunks() -> None:
    chunks = [{"text": f"Welcome. {RULE}"}]
    whole = closest(RULE, [passages_of(f"Welcome. {RULE}", whole=True)], tfidf)[0]
    assert 0.8 < whole < 1
    assert accuracy(f"{RULE} Per our Bonus policy, ponies.", chunks, "spec")[0] == pytest.approx(whole)


# --- with a model -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of random weights, as sentence-transformers keeps one."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny-bert")
    known = ["managers", "must", "record", "every", "attempt", "the", "rate", "is", "paid", "a", "."]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *known]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=special)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(7)
    sizes = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=32, **sizes)
    model = BertModel(config).eval()
    for parameter in model.parameters():  # larger than BERT begins with, so that every part shows
        torch.nn.init.normal_(parameter, std=0.4)
    model.save_pretrained(folder)
    return folder


def test_the_model_gives_what_transformers_gives(tiny: Path) -> None:
    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel

    texts = ["managers must record every attempt.", "the rate", "a", "paid " * 60]
    tokenizer = Tokenizer.from_file(str(tiny / "tokenizer.json"))
    tokenizer.enable_truncation(32)
    tokenizer.enable_padding()
    batch = tokenizer.encode_batch(texts)
    ids, mask = (torch.tensor([getattr(one, name) for one in batch]) for name in ("ids", "attention_mask"))
    with torch.no_grad():
        hidden = BertModel.from_pretrained(tiny).eval()(input_ids=ids, attention_mask=mask).last_hidden_state
    means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    expected = torch.nn.functional.normalize(means, dim=1).numpy()
    np.testing.assert_allclose(SentenceModel(tiny).embed(texts), expected, atol=1e-5)


def test_a_folder_can_be_named_and_is_in_the_signature(tiny: Path) -> None:
    found = find_embedding(str(tiny))
    name, _, digest = found.name.partition(":")
    assert name == tiny.name
    assert len(digest) == 12
    response = "Per our policy, managers must record every attempt."
    judged = evaluate(
        "q", response, [{"text": "The rate is paid. Managers must record."}], 1, False, embedding=str(tiny)
    )
    vectors = SentenceModel(tiny).embed(
        [plain(response), "the rate is paid. managers must record.", "the rate is paid.", "managers must record."]
    )
    assert judged.citation_accuracy == pytest.approx(max(0.0, float(max(vectors[1:] @ vectors[0]))), abs=1e-6)
    assert judged.context["embedding"] == found.name


def test_what_is_installed_is_used_and_what_is_not_is_not(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "installed", lambda: None)
    assert find_embedding() == Embedding()
    assert find_embedding().name == "tfidf-char3"
    monkeypatch.setattr(embedding, "installed", lambda: tiny)
    assert find_embedding().name.startswith("all-MiniLM-L6-v2:")
    assert find_embedding("none") == Embedding()


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({}))
    with pytest.raises(UsageError, match=r"no tokenizer.json, no model.safetensors"):
        find_embedding(str(tmp_path))
