"""What a judge can be shown of a sample, by the names that rubrics use."""

from __future__ import annotations

from turnwise.judge.records import Pieces
from turnwise.kernel.jsontext import dumps_clean
from turnwise.translation.records import Sample


def sample_pieces(sample: Sample) -> Pieces:
    """The texts of a sample; None for what it does not have, and nothing of one that is not scored at all."""
    if sample.excluded:
        return {}
    return {
        "source": sample.source,
        "hypothesis": sample.hypothesis,
        "reference": _references(sample),
        "source_language": sample.source_language,
        "target_language": sample.language,
    }


def _references(sample: Sample) -> str | None:
    """The references that say something, several as a list; not the text that is itself judged."""
    found = [text for text in sample.references if text is not None and text.strip()]
    if sample.is_reference or not found:
        return None
    return found[0] if len(found) == 1 else dumps_clean(found)
