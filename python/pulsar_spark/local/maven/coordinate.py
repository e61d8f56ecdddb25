"""Maven coordinates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulsar_spark.local.errors import FetchError

if TYPE_CHECKING:
    from pathlib import Path

_COORDINATE = re.compile(
    r"(?P<group>[\w.-]+):(?P<artifact>[\w.-]+):(?P<version>[\w.+-]+)(:(?P<classifier>[\w.-]+))?(@(?P<extension>[\w.]+))?"
)


@dataclass(frozen=True)
class Coordinate:
    """The coordinate of a file in a Maven registry."""

    group: str
    artifact: str
    version: str
    classifier: str | None
    extension: str

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        """Parse ``group:artifact:version[:classifier][@ext]``; the default extension is ``jar``.

        Raises:
            FetchError: The text is malformed.
        """
        match = _COORDINATE.fullmatch(text)
        if match is None:
            raise FetchError(f"'{text}' is not a Maven coordinate: expected group:artifact:version[:classifier][@ext]")
        return cls(
            match["group"], match["artifact"], match["version"], match["classifier"], match["extension"] or "jar"
        )

    @property
    def file_name(self) -> str:
        """The file's name in a Maven registry."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"

    def path_in(self, cache: Path) -> Path:
        """The path of the file in ``cache``, with the layout of a Maven repository."""
        return cache.joinpath("maven", *self.group.split("."), self.artifact, self.version, self.file_name)

    def __str__(self) -> str:
        """The coordinate as text."""
        classifier = f":{self.classifier}" if self.classifier else ""
        return f"{self.group}:{self.artifact}:{self.version}{classifier}@{self.extension}"
