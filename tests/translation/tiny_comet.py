"""COMET checkpoints small enough for tests: random weights in the layout of the published ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

TEXT = """the two names were sent to me by wonders of technology and she saw them ndabona amagama amabini athunyelwa
kum yimimangaliso habari ya dunia ni nzuri sana leo asubuhi mapema"""
WORDS = TEXT.split()


def sentences(count: int, seed: int = 0) -> list[str]:
    """Distinct texts of 3 to 20 words."""
    import random

    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(draw.choices(WORDS, k=draw.randint(3, 20)))] = None
    return list(found)


def build_encoder(folder: Path, *, hidden: int = 32, layers: int = 2, positions: int = 130) -> Path:
    """An XLM-R configuration and its Unigram tokenizer, as `pretrained_model` names them; no weights."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz.,?!"
    pieces = [*(f"▁{word}" for word in dict.fromkeys(WORDS)), *letters, "▁", *(f"▁{letter}" for letter in letters)]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [(token, 0.0) for token in special] + [(p, -1.0 - 3.0 * (len(p) < 3)) for p in dict.fromkeys(pieces)]
    tokenizer = Tokenizer(models.Unigram([*vocabulary, ("<mask>", 0.0)], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer, model_max_length=positions - 2).save_pretrained(folder)
    XLMRobertaConfig(
        vocab_size=len(vocabulary) + 1,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=positions,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    ).save_pretrained(folder)
    return folder


def build_comet(
    folder: Path, kind: str, encoder: str | Path, *, seed: int = 1, ignore_reference: bool = False, **changes: Any
) -> Path:
    """A checkpoint of a class in `folder`; the weights are drawn, wide enough for the scores to differ."""
    import torch
    from comet.models import str2model

    options: dict[str, Any] = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "hidden_sizes": [24, 12],
        "activations": "Tanh",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "dropout": 0.1,
        "batch_size": 4,
        "nr_frozen_epochs": 0.3,
        "keep_embeddings_frozen": True,
    }
    if kind == "ranking_metric":
        del options["hidden_sizes"], options["activations"]
    options |= changes
    model = str2model[kind](**options, load_pretrained_weights=False)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "LayerNorm" not in name:  # as wide as what comes in, so that no layer blows up what the one before gave
                value.normal_(0.0, value.shape[-1] ** -0.5 if value.ndim == 2 else 0.2, generator=generator)
        if ignore_reference:  # of the regression's six parts the second, third and fourth come from the reference
            width = model.encoder.output_units
            model.estimator.ff[0].weight[:, width : 4 * width] = 0.0
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    hparams = {**options, "class_identifier": kind}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")
    checkpoint = {
        "state_dict": model.state_dict(),
        "hyper_parameters": options,
        "pytorch-lightning_version": "2.0.0",
        "epoch": 0,
        "global_step": 0,
    }
    torch.save(checkpoint, folder / "checkpoints" / "model.ckpt")
    return folder


def into_hub_cache(cache: Path, name: str, model: Path) -> Path:
    """A folder as `huggingface_hub` keeps the files of a repository: blobs, a reference and a snapshot of links."""
    repository = cache / ("models--" + name.replace("/", "--"))
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = repository / "snapshots" / commit
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit, encoding="utf-8")
    (repository / "blobs").mkdir()
    for number, file in enumerate(sorted(path for path in model.rglob("*") if path.is_file())):
        blob = repository / "blobs" / f"{number:040x}"
        blob.write_bytes(file.read_bytes())
        link = snapshot / file.relative_to(model)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return snapshot
