"""Reading a page as a browser would: is it balanced, does it reach for anything, what does it say?"""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}
REACHING = {"src", "href", "srcset", "action", "data", "poster", "formaction", "xlink:href", "background"}


class Page(HTMLParser):
    """The tags, texts and links of a page; a tag that does not fit is noted."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.troubles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(source)
        self.close()
        self.troubles += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if len(dict(attrs)) < len(attrs):
            self.troubles.append(f"<{tag}> has an attribute twice")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.troubles.append(f"</{tag}> inside {self.open[-3:]}, line {self.getpos()[0]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            return
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def having(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        wanted = attributes.items()
        return [found for name, found in self.tags if name == tag and all(found.get(k) == v for k, v in wanted)]

    @property
    def outside(self) -> list[str]:
        """What the page would fetch from elsewhere, and scripts that hide in attributes."""
        found = []
        for tag, attributes in self.tags:
            for name, value in attributes.items():
                link = value or ""
                if name in REACHING and (":" in link.split("/")[0] or link.startswith("//")):
                    if not link.startswith("data:"):
                        found.append(f"<{tag} {name}={link!r}>")
                elif name.startswith("on"):
                    found.append(f"<{tag} {name}>")
        return found
