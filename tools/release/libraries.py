"""The libraries in the jar, as its own list has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIST = "META-INF/license/THIRD-PARTY.txt"


@dataclass(frozen=True)
class Library:
    """A library: its Maven coordinate, its licence as an SPDX expression, the SHA-256 of its jar in hexadecimal."""

    group: str
    name: str
    version: str
    classifier: str
    licence: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """Group, name, version and classifier, with colons between them."""
        return ":".join(filter(None, (self.group, self.name, self.version, self.classifier)))


def bundled(jar: Path) -> Iterator[Library]:
    """The libraries in the jar. Raises ValueError for a line without the three fields."""
    with ZipFile(jar) as opened:
        text = opened.read(LIST).decode() if LIST in opened.namelist() else ""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            coordinate, licence, sha256 = line.split(" | ")
            group, name, version, *classifier = coordinate.split(":")
            yield Library(group, name, version, "".join(classifier), licence, sha256)
