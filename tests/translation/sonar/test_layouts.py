"""The same tensors under the names of fairseq 1, fairseq 2 and transformers; and files that do not fit."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers.models.m2m_100.configuration_m2m_100 import M2M100Config
from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

from tests.translation.sonar.building import DIM, HEADS, head_tensors, speech_tensors, text_tensors
from turnwise.kernel.errors import InputError, UsageError
from turnwise.translation.sonar import load_blaser, load_speech_encoder, load_text_encoder

TOKENS = 40
IDS = torch.tensor([[9, 11, 12, 13, 3], [10, 2, 3, 0, 0]])
LENGTHS = [5, 3]

TEXT_TO_FAIRSEQ1 = {
    "encoder_frontend.embed.": "embed_tokens.",
    "encoder.layers.": "layers.",
    "output_proj.": "out_proj.",
    "ffn.inner_proj.": "fc1.",
    "ffn.out_proj.": "fc2.",
    "ffn_layer_norm.": "final_layer_norm.",
}
SPEECH_TO_FAIRSEQ1 = {
    r"^encoder_frontend\.post_extract_layer_norm": "encoder.w2v_model.layer_norm",
    r"^encoder_frontend\.model_dim_proj": "encoder.w2v_model.post_extract_proj",
    r"^layer_norm": "encoder.w2v_model.encoder.layer_norm",
    r"^encoder\.layers\.(\d+)\.layer_norm": r"encoder.w2v_model.encoder.layers.\1.final_layer_norm",
    r"^encoder\.layers": "encoder.w2v_model.encoder.layers",
    r"\.conv_layer_norm": ".conv_module.layer_norm",
    r"\.conv\.": ".conv_module.",
    r"\.ffn([12])_layer_norm": r".ffn\1.layer_norm",
    r"\.ffn([12])\.inner_proj": r".ffn\1.w_1",
    r"\.ffn([12])\.output_proj": r".ffn\1.w_2",
    r"(w2v_model.*)\.self_attn\.([qkv])_proj": r"\1.self_attn.linear_\2",
    r"(w2v_model.*)\.self_attn\.output_proj": r"\1.self_attn.linear_out",
    r"sdpa\.r_proj": "linear_pos",
    r"sdpa\.([uv])_bias": r"pos_bias_\1",
    r"^encoder_pooler\.projection_out\.weight": "decoder.embed_out",
    r"^encoder_pooler\.decoder_frontend\.embed\.": "decoder.embed_tokens.",
    r"^encoder_pooler\.decoder\.": "decoder.",
    r"encoder_decoder_attn": "encoder_attn",
    r"output_proj": "out_proj",
    r"\.ffn\.inner_proj": ".fc1",
    r"\.ffn\.out_proj": ".fc2",
    r"\.ffn_layer_norm": ".final_layer_norm",
}


def saved(folder: Path, content: object) -> Path:
    torch.save(content, folder / "checkpoint.pt")
    return folder / "checkpoint.pt"


def fairseq1_text(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, tensor in tensors.items():
        for ours, theirs in TEXT_TO_FAIRSEQ1.items():
            name = name.replace(ours, theirs)
        renamed[name] = tensor
    return renamed


def published_by_fairseq1(tensors: dict[str, Tensor]) -> dict[str, object]:
    old = fairseq1_text(tensors)
    padding, unknown, begin, end = old["embed_tokens.weight"][:4]
    old["embed_tokens.weight"] = torch.cat(
        [torch.stack([begin, padding, end, unknown]), old["embed_tokens.weight"][4:]]
    )
    old |= {"version": torch.tensor([3.0]), "embed_positions._float_tensor": torch.tensor([0.0])}
    return {"args": argparse.Namespace(arch="x"), "state_dict": old}


def fairseq1_speech(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, tensor in tensors.items():
        for ours, theirs in SPEECH_TO_FAIRSEQ1.items():
            name = re.sub(ours, theirs, name)
        renamed[name] = tensor
    return renamed


def test_text_of_fairseq2_with_and_without_a_wrapper(tmp_path: Path) -> None:
    tensors = text_tensors(TOKENS, 1)
    expected = load_text_encoder(saved(tmp_path, {"model": tensors}), num_heads=HEADS)(IDS, LENGTHS)
    bare = load_text_encoder(saved(tmp_path, tensors), num_heads=HEADS)(IDS, LENGTHS)
    assert torch.equal(expected, bare)


def test_text_of_fairseq1(tmp_path: Path) -> None:
    """Its file has begin, padding, end, unknown first; ours are padding, unknown, begin, end (ids 0 to 3)."""
    tensors = text_tensors(TOKENS, 1)
    expected = load_text_encoder(saved(tmp_path, tensors), num_heads=HEADS)(IDS, LENGTHS)
    encoder = load_text_encoder(saved(tmp_path, published_by_fairseq1(tensors)), num_heads=HEADS)
    assert torch.equal(encoder(IDS, LENGTHS), expected)
    assert encoder.vocabulary == "fairseq 1"


def test_text_of_transformers(tmp_path: Path) -> None:
    """A folder of `save_pretrained`: names, ids and heads are its own, the numbers those of M2M100Encoder."""
    torch.manual_seed(0)
    config = M2M100Config(
        vocab_size=TOKENS,
        d_model=DIM,
        encoder_layers=3,
        encoder_attention_heads=8,
        encoder_ffn_dim=24,
        dropout=0.0,
        scale_embedding=True,
        max_position_embeddings=64,
    )
    model = M2M100Encoder(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(tmp_path)
    ids = torch.tensor([[9, 11, 12, 13, 2], [10, 3, 2, 1, 1]])
    mask = (ids != 1).long()
    with torch.no_grad():
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    expected = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    encoder = load_text_encoder(tmp_path)
    assert (encoder(ids, [5, 3]) - expected).abs().max() < 1e-5
    assert encoder.vocabulary == "transformers"
    whole = {f"model.encoder.{name}": tensor for name, tensor in model.state_dict().items()}
    whole["model.decoder.layer_norm.weight"] = torch.ones(DIM)
    part = load_text_encoder(saved(tmp_path / "..", whole), num_heads=8)
    assert (part(ids, [5, 3]) - expected).abs().max() < 1e-5


def test_renamed_tensors_keep_their_rows(tmp_path: Path) -> None:
    tensors = text_tensors(TOKENS, 1)
    expected = load_text_encoder(saved(tmp_path, tensors), num_heads=HEADS)(IDS, LENGTHS)
    renamed = load_text_encoder(saved(tmp_path, {"model": fairseq1_text(tensors)}), num_heads=HEADS)
    assert torch.equal(renamed(IDS, LENGTHS), expected)


def test_speech_of_fairseq1(tmp_path: Path) -> None:
    tensors = speech_tensors(2, pooler_layers=2)
    fbank = torch.randn(2, 21, 80, generator=torch.Generator().manual_seed(3))
    expected = load_speech_encoder(saved(tmp_path, tensors))(fbank, [21, 14])
    old = fairseq1_speech(tensors)
    assert "encoder.w2v_model.encoder.layers.0.conv_module.depthwise_conv.weight" in old
    assert "decoder.layers.1.encoder_attn_layer_norm.weight" in old
    old |= {"encoder.w2v_model.mask_emb": torch.zeros(DIM), "decoder.version": torch.tensor([3.0])}
    found = load_speech_encoder(saved(tmp_path, {"model": old, "cfg": None}))(fbank, [21, 14])
    assert torch.equal(found, expected)


def test_missing_and_unexpected_tensors_are_named(tmp_path: Path) -> None:
    tensors = text_tensors(TOKENS, 1)
    del tensors["encoder.layers.1.ffn.inner_proj.bias"]
    tensors["encoder.layers.1.something"] = torch.zeros(1)
    tensors["layer_norm.weight"] = torch.zeros(5)
    with pytest.raises(InputError) as trouble:
        load_text_encoder(saved(tmp_path, tensors), num_heads=HEADS)
    assert "missing: encoder.layers.1.ffn.inner_proj.bias" in str(trouble.value)
    assert "unexpected: encoder.layers.1.something" in str(trouble.value)
    assert "layer_norm.weight (5,) instead of (32,)" in str(trouble.value)


@pytest.mark.parametrize("load", [load_text_encoder, load_speech_encoder, load_blaser])
def test_files_of_another_kind(load: object, tmp_path: Path) -> None:
    assert callable(load)
    for content in ({"model": {"a": torch.zeros(1)}}, {}, {"model": {}}, [1], {"epoch": 3}):
        with pytest.raises(InputError):
            load(saved(tmp_path, content))
    (tmp_path / "checkpoint.pt").write_bytes(b"no checkpoint")
    with pytest.raises(InputError):
        load(tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="no checkpoint there"):
        load(tmp_path / "absent.pt")


class Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("run while the file is read",))


def test_a_file_that_would_run_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="more than tensors"):
        load_text_encoder(saved(tmp_path, {"model": text_tensors(TOKENS, 1), "extra": Harmful()}))
    assert capsys.readouterr().out == ""


def test_heads_are_asked_for_where_nothing_tells_them(tmp_path: Path) -> None:
    file = saved(tmp_path, text_tensors(TOKENS, 1))
    with pytest.raises(UsageError, match="num_heads="):
        load_text_encoder(file)
    with pytest.raises(UsageError, match="do not divide"):
        load_text_encoder(file, num_heads=5)


def test_head_kinds_by_the_width_of_the_embeddings(tmp_path: Path) -> None:
    """24 inputs are 4 embeddings of 6 or 6 embeddings of 4; the embeddings decide."""
    head = load_blaser(saved(tmp_path, {"model": head_tensors(4, 1, dim=6)}))
    assert (head.mode_for(6), head.mode_for(4)) == ("qe", "ref")
    rows = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
    with pytest.raises(UsageError, match="compares with a reference"):
        head(rows, rows)
    assert head(rows, rows, rows).shape == (2, 1)
    with pytest.raises(UsageError, match="do not fit"):
        head(torch.zeros(1, 5), torch.zeros(1, 5))


def test_impossible_inputs(tmp_path: Path) -> None:
    text = load_text_encoder(saved(tmp_path, text_tensors(TOKENS, 1)), num_heads=HEADS)
    for ids, lengths in (
        (torch.tensor([[40]]), [1]),
        (torch.tensor([[-1]]), [1]),
        (IDS, [5]),
        (IDS, [0, 5]),
        (IDS, [6, 5]),
        (torch.tensor([1, 2]), [2]),
        (IDS.float(), LENGTHS),
    ):
        with pytest.raises(UsageError):
            text(ids, lengths)
    assert text(torch.empty(0, 4, dtype=torch.int64), []).shape == (0, DIM)
    speech = load_speech_encoder(saved(tmp_path, speech_tensors(2)))
    for shape, lengths in (((1, 10, 79), [10]), ((1, 10, 80), [1]), ((1, 10, 80), [11]), ((10, 80), [10])):
        with pytest.raises(UsageError):
            speech(torch.zeros(shape), lengths)
    assert speech(torch.empty(0, 10, 80), []).shape == (0, DIM)
