"""Where a model computes: the processor, or a graphics card if there is one."""

from __future__ import annotations

from turnwise.kernel.errors import UsageError, near_misses
from turnwise.kernel.extras import import_extra

DEVICES = ("cpu", "cuda", "auto")


def resolve_device(name: str = "auto") -> str:
    """`cpu` or `cuda`, as torch calls them; `auto` takes the graphics card where torch sees one.

    Raises:
        UsageError: there is no such device, here or at all.
        TurnwiseError: torch has to be asked, and is not installed.
    """
    if name not in DEVICES:
        raise UsageError(
            f"--device cannot be {name!r}", expected=" or ".join(DEVICES), remedy=near_misses(name, DEVICES) or None
        )
    if name == "cpu":
        return name
    torch = import_extra("torch", "neural", "choosing a device")
    if torch.cuda.is_available():
        return "cuda"
    if name == "cuda":
        raise UsageError(
            "--device cuda: torch finds no graphics card that it can use",
            found=f"torch {torch.__version__}, built for CUDA {torch.version.cuda}"
            if torch.version.cuda
            else f"torch {torch.__version__}, built without CUDA",
            remedy="--device cpu, or --device auto, which takes one where there is one",
        )
    return "cpu"
