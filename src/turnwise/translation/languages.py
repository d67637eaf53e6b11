"""Names of languages: the four of the document by every name they go by, all others as they are written."""

from __future__ import annotations

import re

ALIASES = {
    "efik": ("efi",),
    "igbo": ("ibo", "ig"),
    "swahili": ("swh", "swa", "sw", "kiswahili"),
    "xhosa": ("xho", "xh", "isixhosa"),
    "english": ("eng", "en"),
}
"""The name used in results, then what else it is called; the first of these is the code in file names."""

_NAMES = {alias: name for name, aliases in ALIASES.items() for alias in (name, *aliases)}
_SCRIPT_OR_REGION = re.compile(r"[-_](latn|[a-z]{2})$")


def language_name(text: str) -> str:
    """The name of a language, from a name or a code, with or without script or region.

    >>> language_name("SWA"), language_name("xho_Latn"), language_name("en-US"), language_name("de")
    ('swahili', 'xhosa', 'english', 'de')
    """
    plain = text.strip()
    folded = plain.casefold()
    return _NAMES.get(folded) or _NAMES.get(_SCRIPT_OR_REGION.sub("", folded)) or plain


def language_code(text: str) -> str:
    """The code of a language for file names and language pairs; a language of unknown code is its own.

    >>> language_code("swahili"), language_code("xho"), language_code("de")
    ('swh', 'xho', 'de')
    """
    name = language_name(text)
    return ALIASES[name][0] if name in ALIASES else name


def short_code(text: str) -> str:
    """The code as it stands in language pairs, where English is `en`."""
    return "en" if language_name(text) == "english" else language_code(text)
