"""Pages of the repository as pages of the site: links and pictures lead to places in it, or to the forge."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from docsite.names import ROOT
from docsite.tabs import with_tabs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s]+)(?=\))")
_PICTURE = re.compile(r"<picture>.*?srcset=\"([^\"]+)\".*?alt=\"([^\"]+)\" src=\"([^\"]+)\".*?</picture>", re.DOTALL)
_SHOWN = "```{{image}} {}\n:alt: {}\n:class: only-{}\n```\n"


class Translation:
    """One page on its way into the site.

    Attributes:
        pictures: Files that the page shows, by their places in the site.
    """

    def __init__(self, page: str, places: Mapping[str, str], forge: str) -> None:
        """Prepare the translation of ``page``; links out of the site lead to the address ``forge``."""
        self._page, self._places, self._forge = page, places, forge
        self.pictures: dict[str, Path] = {}

    def text(self) -> str:
        """The page as the site has it."""
        return with_tabs("".join(self._parts((ROOT / self._page).read_text(encoding="utf-8"))))

    def _parts(self, text: str) -> Iterator[str]:
        for part in _FENCE.split(text):
            if part.startswith("```"):
                yield part.replace("```mermaid", "```{mermaid}", 1)
            else:
                yield _PICTURE.sub(self._by_mode, _LINK.sub(lambda link: self._target(link[1]), part))

    def _by_mode(self, found: re.Match[str]) -> str:
        dark, words, light = found.groups()
        shown = ((dark, "dark"), (light, "light"))
        return "".join(_SHOWN.format(self._target(path), words, mode) for path, mode in shown)

    def _target(self, link: str) -> str:
        path, _, anchor = unquote(link).partition("#")
        file = PurePosixPath(os.path.normpath(PurePosixPath(self._page).parent / path))
        suffix = f"#{anchor}" if anchor else ""
        if str(file) in self._places:
            return self._relative(f"{self._places[str(file)]}.md") + suffix
        if file.suffix in (".svg", ".png"):
            place = f"pictures/{file.name}"
            self.pictures[place] = ROOT / file
            return self._relative(place)
        kind = "tree" if (ROOT / file).is_dir() else "blob"
        return f"{self._forge}/{kind}/main/{file}{suffix}"

    def _relative(self, place: str) -> str:
        return os.path.relpath(place, PurePosixPath(self._places[self._page]).parent)
