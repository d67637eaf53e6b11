"""How similar is what was retrieved to what was asked, by the retriever's own account?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics.base import TurnMetric, turn_spec
from turnwise.assistant.metrics.citation_accuracy import NOTHING_RETRIEVED
from turnwise.assistant.reading import Reading
from turnwise.assistant.records import CHUNKS, Chunk
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

TOLERANCE = 1e-6
"""How far rounding may carry a cosine beyond 0 or 1."""


class RagSimilarity(TurnMetric):
    """The mean similarity of the retrieved chunks."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "rag_similarity_score",
        "How similar are the retrieved chunks, on average?",
        "similarity",
        "retrieval",
        needs=(CHUNKS,),
        context=(),
    )

    def judge(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """The mean, where every chunk has a similarity that is one."""
        chunks = reading.turn.chunks
        if chunks is None:
            return skipped("no chunks recorded")
        if not chunks:
            return not_applicable(NOTHING_RETRIEVED)
        found = [chunk.similarity for chunk in chunks if chunk.similarity is not None]
        if len(found) < len(chunks):
            return skipped("a chunk without a similarity")
        outside = outside_range(chunks)
        if outside:
            return skipped("a similarity outside 0 to 1", evidence={"similarity": outside})
        return measured((min(1.0, max(0.0, sum(found) / len(found))),), evidence={"chunks": len(found)})


def outside_range(chunks: Sequence[Chunk]) -> list[float]:
    """Similarities that are none: a distance, a score without bounds."""
    numbers = [chunk.similarity for chunk in chunks if chunk.similarity is not None]
    return [number for number in numbers if not -TOLERANCE <= number <= 1 + TOLERANCE]
