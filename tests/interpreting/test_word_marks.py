"""Words that were counted in a text as it is heard, found again in the text as it is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnwise.interpreting.word_marks import marked_pieces
from turnwise.kernel.text import spoken_words


def test_words_are_found_in_any_script_and_nothing_is_marked_wrongly() -> None:
    assert marked_pieces("It’s 'Left', no", [(1, 2)]) == [("It’s '", False), ("Left", True), ("', no", False)]
    assert marked_pieces("膝盖 left疼", [(1, 3)]) == [("膝", False), ("盖 left", True), ("疼", False)]
    assert marked_pieces("a b c", [(1, 2), (0, 2)]) == [("a b", True), (" c", False)]  # of two barge-ins
    assert marked_pieces("", [(0, 1)]) == []
    assert marked_pieces("疼'痛", [(0, 1)]) == [("疼'痛", False)]  # counted as three, which cannot be found again


@given(st.text(max_size=40), st.sets(st.integers(0, 12)))
def test_marking_loses_nothing_and_marks_those_words(text: str, chosen: set[int]) -> None:
    pieces = marked_pieces(text, [(n, n + 1) for n in chosen])
    assert "".join(said for said, _ in pieces) == text
    marked = [word for said, strange in pieces if strange for word in spoken_words(said)]
    if marked:
        assert marked == [word for n, word in enumerate(spoken_words(text)) if n in chosen]
