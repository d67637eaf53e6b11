"""Checkpoints of SONAR and BLASER: files of three layouts read as tensors under fairseq2's names.

Only tensors are read; a file that wants to run code while it is read is refused.
"""

from __future__ import annotations

import argparse
import pickle
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from turnwise.kernel.errors import InputError
from turnwise.translation.sonar_models import configured_heads, weights_file

FAIRSEQ1, FAIRSEQ2, TRANSFORMERS = "fairseq 1", "fairseq 2", "transformers"

_WRAPPERS = ("model", "state_dict", "model_state_dict", "encoder_state_dict", "encoder")
_LEFTOVERS = re.compile(
    r"(^|\.)(version|embed_positions\.(_float_tensor|weights)|mask_emb|num_batches_tracked|"
    r"encoder\.pos_conv\.\d+\.\w+)$"
)
"""What published files carry and no embedding depends on."""
_FAIRSEQ1_ONLY = re.compile(r"(^|\.)(version|embed_positions\._float_tensor)$")

_LAYER = r"layers\.(\d+)\."
_TEXT_NAMES = (
    (rf"^{_LAYER}self_attn\.out_proj\.", r"encoder.layers.\1.self_attn.output_proj."),
    (rf"^{_LAYER}(self_attn\.[qkv]_proj|self_attn_layer_norm)\.", r"encoder.layers.\1.\2."),
    (rf"^{_LAYER}fc1\.", r"encoder.layers.\1.ffn.inner_proj."),
    (rf"^{_LAYER}fc2\.", r"encoder.layers.\1.ffn.output_proj."),
    (rf"^{_LAYER}final_layer_norm\.", r"encoder.layers.\1.ffn_layer_norm."),
    (r"^embed_tokens\.weight$", r"encoder_frontend.embed.weight"),
)
_SPEECH = r"^encoder\.w2v_model\."
_CONFORMER = rf"{_SPEECH}encoder\.{_LAYER}"
_POOLER = rf"^decoder\.{_LAYER}"
_SPEECH_NAMES = (
    (rf"{_SPEECH}layer_norm\.", r"encoder_frontend.post_extract_layer_norm."),
    (rf"{_SPEECH}post_extract_proj\.", r"encoder_frontend.model_dim_proj."),
    (rf"{_SPEECH}encoder\.layer_norm\.", r"layer_norm."),
    (rf"{_CONFORMER}conv_module\.layer_norm\.", r"encoder.layers.\1.conv_layer_norm."),
    (rf"{_CONFORMER}conv_module\.", r"encoder.layers.\1.conv."),
    (rf"{_CONFORMER}ffn([12])\.layer_norm\.", r"encoder.layers.\1.ffn\2_layer_norm."),
    (rf"{_CONFORMER}ffn([12])\.w_1\.", r"encoder.layers.\1.ffn\2.inner_proj."),
    (rf"{_CONFORMER}ffn([12])\.w_2\.", r"encoder.layers.\1.ffn\2.output_proj."),
    (rf"{_CONFORMER}self_attn\.linear_([qkv])\.", r"encoder.layers.\1.self_attn.\2_proj."),
    (rf"{_CONFORMER}self_attn\.linear_out\.", r"encoder.layers.\1.self_attn.output_proj."),
    (rf"{_CONFORMER}self_attn\.linear_pos\.", r"encoder.layers.\1.self_attn.sdpa.r_proj."),
    (rf"{_CONFORMER}self_attn\.pos_bias_([uv])$", r"encoder.layers.\1.self_attn.sdpa.\2_bias"),
    (rf"{_CONFORMER}self_attn_layer_norm\.", r"encoder.layers.\1.self_attn_layer_norm."),
    (rf"{_CONFORMER}final_layer_norm\.", r"encoder.layers.\1.layer_norm."),
    (r"^decoder\.embed_tokens\.", r"encoder_pooler.decoder_frontend.embed."),
    (r"^decoder\.embed_out$", r"encoder_pooler.projection_out.weight"),
    (rf"{_POOLER}encoder_attn\.out_proj\.", r"encoder_pooler.decoder.layers.\1.encoder_decoder_attn.output_proj."),
    (rf"{_POOLER}encoder_attn(_layer_norm|\.)", r"encoder_pooler.decoder.layers.\1.encoder_decoder_attn\2"),
    (rf"{_POOLER}self_attn\.out_proj\.", r"encoder_pooler.decoder.layers.\1.self_attn.output_proj."),
    (rf"{_POOLER}self_attn", r"encoder_pooler.decoder.layers.\1.self_attn"),
    (rf"{_POOLER}fc1\.", r"encoder_pooler.decoder.layers.\1.ffn.inner_proj."),
    (rf"{_POOLER}fc2\.", r"encoder_pooler.decoder.layers.\1.ffn.output_proj."),
    (rf"{_POOLER}final_layer_norm\.", r"encoder_pooler.decoder.layers.\1.ffn_layer_norm."),
)

_CONTROLS_OF_FAIRSEQ1 = (1, 3, 0, 2)
"""Where fairseq 1 (begin, padding, end, unknown) has fairseq 2's first rows (padding, unknown, begin, end)."""


class Checkpoint(NamedTuple):
    """A file's tensors under fairseq2's names."""

    file: Path
    tensors: dict[str, Tensor]
    layout: str
    heads: int | None = None
    """Attention heads, where a configuration beside the file says so."""


def read_text_checkpoint(path: str | Path) -> Checkpoint:
    """A text encoder of any layout.

    fairseq 1 and transformers name the tensors alike. What is left of training (`version`, the wrapper `state_dict`)
    tells fairseq 1; its first four rows are put in fairseq 2's order, as SONAR's own loader does.
    """
    file = weights_file(path)
    raw, wrapper = read_tensors(file)
    if "encoder_frontend.embed.weight" in raw:
        return Checkpoint(file, _kept(raw), FAIRSEQ2, configured_heads(file))
    from_training = wrapper == "state_dict" or any(map(_FAIRSEQ1_ONLY.search, raw))
    bare = _without_prefix(raw, ("model.encoder.", "encoder."))
    tensors = _renamed(_kept(bare), _TEXT_NAMES)
    layout = FAIRSEQ1 if from_training else TRANSFORMERS
    embed = tensors.get("encoder_frontend.embed.weight")
    if layout == FAIRSEQ1 and embed is not None:
        rows = [*_CONTROLS_OF_FAIRSEQ1, *range(4, len(embed))]
        tensors["encoder_frontend.embed.weight"] = embed[rows]
    return Checkpoint(file, tensors, layout, configured_heads(file))


def read_speech_checkpoint(path: str | Path) -> Checkpoint:
    """A speech encoder with the names of fairseq 1 or of fairseq 2."""
    file = weights_file(path)
    raw, _ = read_tensors(file)
    if any(name.startswith("encoder.w2v_model.") for name in raw):
        return Checkpoint(file, _renamed(_kept(raw), _SPEECH_NAMES), FAIRSEQ1, configured_heads(file))
    return Checkpoint(file, _kept(raw), FAIRSEQ2, configured_heads(file))


def read_tensors(file: Path) -> tuple[dict[str, Tensor], str]:
    """The tensors of a file, taken out of what they are wrapped in, and the name of the innermost wrapper."""
    found = _read(file)
    wrapper = ""
    while isinstance(found, Mapping) and not any(isinstance(value, Tensor) for value in found.values()):
        inner = next((name for name in _WRAPPERS if isinstance(found.get(name), Mapping)), None)
        if inner is None:
            keys = ", ".join(sorted(map(str, found))[:8])
            raise InputError("no tensors in the checkpoint", where=str(file), found=keys or "an empty file")
        found, wrapper = found[inner], inner
    if not isinstance(found, Mapping):
        raise InputError("a checkpoint is a table of tensors", where=str(file), found=type(found).__name__)
    return {str(name): value for name, value in found.items() if isinstance(value, Tensor)}, wrapper


def _read(file: Path) -> Any:
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(file)
        # Files of fairseq 1 keep the arguments of the training in this harmless class.
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            "the checkpoint holds more than tensors",
            where=str(file),
            found=str(error).splitlines()[0],
            remedy='save its tensors alone: torch.save({"model": model.state_dict()}, file)',
        ) from error
    except (RuntimeError, OSError, EOFError, ValueError) as error:
        raise InputError("unreadable checkpoint", where=str(file), found=str(error).splitlines()[0]) from error
    except Exception as error:
        if type(error).__module__.startswith("safetensors"):
            raise InputError("unreadable checkpoint", where=str(file), found=str(error)) from error
        raise


def _kept(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if not _LEFTOVERS.search(name)}


def _without_prefix(tensors: Mapping[str, Tensor], prefixes: Iterable[str]) -> dict[str, Tensor]:
    """The names after a prefix that the embedding table has; a whole model's other parts are left out."""
    for prefix in prefixes:
        if f"{prefix}embed_tokens.weight" in tensors:
            return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    return dict(tensors)


def _renamed(tensors: Mapping[str, Tensor], names: Iterable[tuple[str, str]]) -> dict[str, Tensor]:
    rules = [(re.compile(pattern), new) for pattern, new in names]
    renamed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        match = next((rule for rule in rules if rule[0].search(name)), None)
        renamed[match[0].sub(match[1], name) if match else name] = tensor
    return renamed


def count_layers(checkpoint: Checkpoint, prefix: str) -> int:
    """How many layers the tensors with a prefix make."""
    found = {int(name[len(prefix) :].split(".", 1)[0]) for name in checkpoint.tensors if name.startswith(prefix)}
    if not found:
        raise InputError(
            "the checkpoint has no layers",
            where=str(checkpoint.file),
            found=", ".join(sorted(checkpoint.tensors)[:4]) or "no tensors",
            expected=f"tensors named {prefix}0. ...",
        )
    return max(found) + 1


def need(checkpoint: Checkpoint, names: Iterable[str]) -> None:
    """Refuse a checkpoint without the tensors that the dimensions are read from."""
    if missing := [name for name in names if name not in checkpoint.tensors]:
        raise InputError(
            "the checkpoint lacks tensors",
            where=f"{checkpoint.file} ({checkpoint.layout} names)",
            found=f"{len(checkpoint.tensors)} tensors: {', '.join(sorted(checkpoint.tensors)[:4])} ...",
            expected=", ".join(missing),
        )


def fill(module: nn.Module, checkpoint: Checkpoint) -> None:
    """The tensors as the parameters of a module; what is missing, left over or of another shape is named."""
    wanted = {n: t for n, t in module.state_dict().items() if not n.endswith("num_batches_tracked")}
    found = checkpoint.tensors
    troubles = {
        "missing": sorted(wanted.keys() - found.keys()),
        "unexpected": sorted(found.keys() - wanted.keys()),
        "of another shape": [
            f"{name} {tuple(found[name].shape)} instead of {tuple(tensor.shape)}"
            for name, tensor in wanted.items()
            if name in found and found[name].shape != tensor.shape
        ],
    }
    if any(troubles.values()):
        raise InputError(
            "the checkpoint does not fit the model",
            where=f"{checkpoint.file} ({checkpoint.layout} names)",
            found="; ".join(f"{what}: {_listed(names)}" for what, names in troubles.items() if names),
        )
    counters = {n: torch.tensor(0) for n in module.state_dict() if n.endswith("num_batches_tracked")}
    module.load_state_dict({**{n: t.to(torch.float32) for n, t in found.items()}, **counters}, assign=True)
    module.requires_grad_(False)
    module.eval()


def _listed(names: list[str], limit: int = 6) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
