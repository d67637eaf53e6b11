"""How close is what the reply cites to what was retrieved?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.closeness import closest, passages_of
from turnwise.assistant.embedding import found_at
from turnwise.assistant.metrics.base import EMBEDDING, EMBEDDING_FOLDER, PATTERNS, ReplyMetric, turn_spec
from turnwise.assistant.reading import Reading, cited_sentences
from turnwise.assistant.records import CHUNKS, RESPONSE, Chunk
from turnwise.kernel.errors import shorten
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped

NOTHING_CITED = "nothing is cited"
NOTHING_RETRIEVED = "nothing was retrieved"


class CitationAccuracy(ReplyMetric):
    """The mean, over the cited sentences, of the cosine with the closest retrieved passage."""

    spec: ClassVar[MetricSpec] = turn_spec(
        "citation_accuracy",
        "How close is the cited text to the policy that was retrieved?",
        "accuracy",
        "policy",
        needs=(RESPONSE, CHUNKS),
        context=(PATTERNS, EMBEDDING),
    )

    def models(self) -> dict[str, str]:
        """The embedding model on this machine, to be compared with that on another."""
        return {"embedding": found_at(self.settings.context.get(EMBEDDING_FOLDER, ""))}

    def verdict(self, reading: Reading, batch: TurnBatch) -> Measurement:
        """What was cited, and how close it is to which chunk."""
        cited = cited_sentences(reading.text, reading.citations)
        if not cited:
            # The document scores 0, which punishes a second time what has_policy_citation punishes (002-5).
            return measured((0.0,)) if self.is_spec else not_applicable(NOTHING_CITED)
        if reading.turn.chunks is None:
            return skipped("no chunks recorded")
        chunks = [chunk for chunk in reading.turn.chunks if chunk.text.strip()]
        if not chunks:
            return not_applicable(NOTHING_RETRIEVED)
        return self._compared(cited[:1] if self.is_spec else cited, chunks, batch)

    def _compared(self, cited: list[str], chunks: list[Chunk], batch: TurnBatch) -> Measurement:
        passages = [passages_of(chunk.text, whole=self.is_spec) for chunk in chunks]
        evidence, best = [], []
        compared: dict[str, list[float]] = {}  # a reply may say the same twenty times
        for sentence in cited:
            if sentence not in compared:
                compared[sentence] = closest(sentence, passages, batch.embedding.compare)
            values = compared[sentence]
            place = max(range(len(values)), key=values.__getitem__)
            best.append(values[place])
            closest_to = chunks[place].title or f"chunk {place + 1}"
            evidence.append({"cited": shorten(sentence, 200), "closest": closest_to, "similarity": values[place]})
        return measured((sum(best) / len(best),), evidence=evidence)
