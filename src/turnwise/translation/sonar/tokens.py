"""Text as NLLB's encoder takes it: the language's code, the pieces of the text, the end of the sentence.

Ids are in the order of the encoder's own file: transformers and fairseq 1 put begin, padding, end and unknown first,
fairseq 2 padding, unknown, begin and end. All other ids are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnwise.kernel.errors import InputError, near_misses
from turnwise.kernel.extras import import_extra
from turnwise.translation.sonar_models import BrokenModel, tokenizers_beside

LONGEST = 512
"""Tokens that the encoder was trained for."""
_PURPOSE = "BLASER on text"
_CONTROLS = {0: 2, 1: 0, 2: 3, 3: 1}
"""transformers' ids of begin, padding, end and unknown, and fairseq 2's."""
_END, _UNKNOWN = 2, 3


class Tokenizer:
    """The tokenizer that lies beside an encoder's weights: `tokenizer.json`, or a file of sentencepiece."""

    def __init__(self, file: Path, languages: Sequence[str]) -> None:
        """`languages`: all codes in the order of their ids, for a sentencepiece file, which does not have them."""
        self.file = file
        self._languages = list(languages)
        self._fast: Any = None
        if file.suffix == ".json":
            self._fast = import_extra("tokenizers", "neural", _PURPOSE).Tokenizer.from_file(str(file))
        else:
            self._pieces = import_extra("sentencepiece", "neural", _PURPOSE).SentencePieceProcessor(str(file))

    def ids(self, text: str, language: str, *, fairseq2: bool) -> list[int]:
        """Token ids of a text; `language` as NLLB calls it, e.g. `xho_Latn`."""
        found = [self._language(language), *self._text(text), _END]
        return [_CONTROLS.get(token, token) for token in found] if fairseq2 else found

    def _text(self, text: str) -> list[int]:
        if self._fast is not None:
            found: list[int] = self._fast.encode(text, add_special_tokens=False).ids
            return found
        # The vocabulary has one entry more than the pieces: padding.
        return [piece + 1 if piece > _END else _UNKNOWN for piece in self._pieces.encode(text)]

    def _language(self, code: str) -> int:
        if self._fast is not None:
            found: int | None = self._fast.token_to_id(code)
        elif code in self._languages:
            found = self._pieces.get_piece_size() + 1 + self._languages.index(code)
        else:
            found = None
        if found is None:
            raise InputError(
                f"the tokenizer has no language {code}",
                where=str(self.file),
                remedy=near_misses(code, self._languages) or None,
            )
        return found


def tokenizer_file(weights: Path) -> Path:
    """The tokenizer beside a file of weights."""
    folder, found = weights.parent, tokenizers_beside(weights)
    if len(found) != 1:
        raise BrokenModel(
            "no tokenizer beside the text encoder" if not found else "several tokenizers beside the text encoder",
            where=str(folder),
            found=", ".join(file.name for file in found) or None,
            expected="tokenizer.json, or one file of sentencepiece such as sentencepiece.source.256000.model",
        )
    return found[0]
