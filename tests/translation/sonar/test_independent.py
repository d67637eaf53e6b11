"""The same computations by other people's code: transformers' conformer, torch's decoder, Seamless, NLLB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer as FastTokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from transformers import SeamlessM4TConfig, SeamlessM4TFeatureExtractor
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES, NllbTokenizer
from transformers.models.seamless_m4t.modeling_seamless_m4t import SeamlessM4TConformerEncoder

from tests.translation.sonar.building import (
    DIM,
    HEADS,
    SENTENCES,
    put,
    sentencepiece_model,
    speech_tensors,
    text_tensors,
)
from turnwise.audio.wave import UnusableAudio, from_samples
from turnwise.kernel.errors import InputError
from turnwise.translation.sonar import load_speech_encoder
from turnwise.translation.sonar.sound import LONGEST_S, TOO_LONG, TOO_SHORT, fbank
from turnwise.translation.sonar.tokens import Tokenizer, tokenizer_file
from turnwise.translation.sonar_models import text_codes


def test_conformer_as_in_transformers(tmp_path: Path) -> None:
    tensors = speech_tensors(5, layers=3)
    ours = load_speech_encoder(put(tmp_path, "model.pt", tensors))
    config = SeamlessM4TConfig(
        hidden_size=DIM,
        speech_encoder_layers=3,
        speech_encoder_attention_heads=HEADS,
        speech_encoder_intermediate_size=48,
        position_embeddings_type="relative",
        max_source_positions=64,
        conv_depthwise_kernel_size=31,
        speech_encoder_dropout=0.0,
        speech_encoder_hidden_act="swish",
    )
    theirs = SeamlessM4TConformerEncoder(config).eval()
    names = {
        "self_attn.q_proj": "self_attn.linear_q",
        "self_attn.k_proj": "self_attn.linear_k",
        "self_attn.v_proj": "self_attn.linear_v",
        "self_attn.output_proj": "self_attn.linear_out",
        "self_attn.sdpa.r_proj": "self_attn.linear_pos",
        "self_attn.sdpa.u_bias": "self_attn.pos_bias_u",
        "self_attn.sdpa.v_bias": "self_attn.pos_bias_v",
        "conv_layer_norm": "conv_module.layer_norm",
        ".conv.": ".conv_module.",
        "inner_proj": "intermediate_dense",
        "ffn1.output_proj": "ffn1.output_dense",
        "ffn2.output_proj": "ffn2.output_dense",
    }
    renamed = {}
    for name, tensor in tensors.items():
        if not name.startswith(("encoder.layers", "layer_norm")):
            continue
        name = name.removeprefix("encoder.")
        head, _, tail = name.partition(".layer_norm.") if name.startswith("layers.") else (name, "", "")
        name = f"{head}.final_layer_norm.{tail}" if tail else name
        for own, other in names.items():
            name = name.replace(own, other)
        renamed[name] = tensor
    theirs.load_state_dict(renamed)
    stacked = torch.randn(2, 17, 160, generator=torch.Generator().manual_seed(1))
    is_real = torch.arange(17)[None] < torch.tensor([[17], [9]])
    frontend = ours.encoder_frontend
    projected = frontend["model_dim_proj"](frontend["post_extract_layer_norm"](stacked))
    with torch.no_grad():
        expected = theirs(projected, attention_mask=is_real).last_hidden_state
        found = ours._encoded(stacked, is_real)
    assert (found - expected)[is_real].abs().max() < 1e-5


def test_pooler_as_in_torch(tmp_path: Path) -> None:
    tensors = speech_tensors(6, pooler_layers=2)
    ours = load_speech_encoder(put(tmp_path, "model.pt", tensors))
    layer = torch.nn.TransformerDecoderLayer(DIM, HEADS, 40, dropout=0.0, activation="relu", batch_first=True)
    theirs = torch.nn.TransformerDecoder(layer, 2).eval()
    state = {}
    for place in range(2):
        own = {
            name.removeprefix(f"encoder_pooler.decoder.layers.{place}."): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"encoder_pooler.decoder.layers.{place}.")
        }
        for attention, other in (("self_attn", "self_attn"), ("encoder_decoder_attn", "multihead_attn")):
            for kind in ("weight", "bias"):
                parts = [own[f"{attention}.{part}_proj.{kind}"] for part in "qkv"]
                state[f"layers.{place}.{other}.in_proj_{kind}"] = torch.cat(parts)
                state[f"layers.{place}.{other}.out_proj.{kind}"] = own[f"{attention}.output_proj.{kind}"]
        for name, other in (
            ("ffn.inner_proj", "linear1"),
            ("ffn.output_proj", "linear2"),
            ("self_attn_layer_norm", "norm1"),
            ("encoder_decoder_attn_layer_norm", "norm2"),
            ("ffn_layer_norm", "norm3"),
        ):
            for kind in ("weight", "bias"):
                state[f"layers.{place}.{other}.{kind}"] = own[f"{name}.{kind}"]
    theirs.load_state_dict(state)
    speech = torch.randn(2, 9, DIM, generator=torch.Generator().manual_seed(2))
    is_real = torch.arange(9)[None] < torch.tensor([[9], [4]])
    # The one token: its embedding times sqrt(32), plus position 0, which is zeros and then ones.
    token = tensors["encoder_pooler.decoder_frontend.embed.weight"][2] * DIM**0.5
    token = token + torch.cat([torch.zeros(DIM // 2), torch.ones(DIM // 2)])
    with torch.no_grad():
        states = theirs(token.expand(2, 1, DIM), speech, memory_key_padding_mask=~is_real)
        expected = states[:, 0] @ tensors["encoder_pooler.projection_out.weight"].T
        found = ours._pooled(speech, is_real)
    assert (found - expected).abs().max() < 1e-5


@pytest.mark.parametrize("seconds", [0.2, 0.5, 3.21])
def test_filterbanks_as_in_seamless(seconds: float) -> None:
    rng = np.random.default_rng(4)
    time = np.arange(round(seconds * 16000)) / 16000
    samples = 0.2 * np.sin(2 * np.pi * 180 * time) + 0.05 * rng.normal(size=len(time)) + 0.01
    extractor = SeamlessM4TFeatureExtractor(num_mel_bins=80, stride=1)
    expected = extractor(samples, sampling_rate=16000, pad_to_multiple_of=1, return_tensors="np")["input_features"][0]
    found = fbank(from_samples(samples, 16000))
    assert found.shape == expected.shape == (1 + (len(samples) - 400) // 160, 80)
    # Theirs keeps the spectrum in single precision; a band that hardly changes is divided by a small deviation.
    assert np.abs(found - expected).max() < 2e-4
    assert np.abs(found - expected).mean() < 1e-5


def test_filterbanks_of_another_rate_and_level() -> None:
    """Standardised over the sentence, so that loudness changes nothing."""
    rng = np.random.default_rng(5)
    samples = 0.1 * rng.normal(size=24000)
    loud, soft = fbank(from_samples(samples, 48000)), fbank(from_samples(samples / 2, 48000))
    assert loud.shape == (48, 80)  # 0.5 s are 8000 samples at 16 kHz: 1 + (8000 - 400) // 160
    assert np.abs(loud - soft).max() < 1e-3


def test_speech_of_no_possible_length() -> None:
    rng = np.random.default_rng(6)
    with pytest.raises(UnusableAudio, match=TOO_LONG):
        fbank(from_samples(0.1 * rng.normal(size=int(LONGEST_S * 8000) + 1), 8000))
    with pytest.raises(UnusableAudio, match=TOO_SHORT):
        fbank(from_samples(0.1 * rng.normal(size=559), 16000))
    assert fbank(from_samples(0.1 * rng.normal(size=int(LONGEST_S * 16000)), 16000)).shape == (2998, 80)


def test_languages_in_the_order_of_nllb() -> None:
    assert text_codes() == list(FAIRSEQ_LANGUAGE_CODES)


def test_ids_as_in_nllb(tmp_path: Path) -> None:
    """From a sentencepiece file alone: transformers' own tokenizer gives the same ids; fairseq 2's differ below 4."""
    file = tmp_path / "sentencepiece.bpe.model"
    file.write_bytes(sentencepiece_model())
    ours = Tokenizer(file, text_codes())
    for code in ("xho_Latn", "ibo_Latn", "ace_Arab", "zul_Latn"):
        theirs = NllbTokenizer(str(file), src_lang=code)
        for text in [*SENTENCES, "", "  zwei  Namen ", "漢字 unknown"]:
            expected = theirs(text)["input_ids"]
            found = ours.ids(text, code, fairseq2=False)
            assert found[1:] == expected[1:]
            swapped = [{0: 2, 1: 0, 2: 3, 3: 1}.get(token, token) for token in found]
            assert ours.ids(text, code, fairseq2=True) == swapped
    # NLLB's published ids: 256000 pieces, ace_Arab 256001, eng_Latn 256047. Here there are 60 pieces.
    assert [ours.ids("", code, fairseq2=False)[0] for code in ("ace_Arab", "eng_Latn")] == [61, 107]
    with pytest.raises(InputError, match="no language efi_Latn"):
        ours.ids("a", "efi_Latn", fairseq2=True)


def test_ids_of_a_tokenizer_file(tmp_path: Path) -> None:
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁a", -1.0), ("b", -2.0), ("xho_Latn", 0.0)]
    fast = FastTokenizer(Unigram(pieces, unk_id=3))
    fast.pre_tokenizer = Metaspace()
    fast.save(str(tmp_path / "tokenizer.json"))
    put(tmp_path, "model.pt", text_tensors(10, 1))
    ours = Tokenizer(tokenizer_file(tmp_path / "model.pt"), [])
    assert ours.ids("ab a", "xho_Latn", fairseq2=False) == [6, 4, 5, 4, 2]
    assert ours.ids("ab a", "xho_Latn", fairseq2=True) == [6, 4, 5, 4, 3]


def test_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no tokenizer"):
        tokenizer_file(tmp_path / "model.pt")
    for name in ("a.model", "b.model"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match="several tokenizers"):
        tokenizer_file(tmp_path / "model.pt")
