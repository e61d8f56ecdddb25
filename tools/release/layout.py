"""Where the files of a release are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "io.github.pulsar-spark"
ARTIFACT = "pulsar-spark-connector_2.13"


@dataclass(frozen=True)
class Release:
    """The files of one version below a folder: a Maven repository, a wheel and a source distribution."""

    folder: Path
    version: str

    @property
    def maven(self) -> Path:
        """The folder of the version in the Maven repository."""
        return self.folder / "maven" / GROUP.replace(".", "/") / ARTIFACT / self.version

    @property
    def pom(self) -> Path:
        """The description for Maven."""
        return self._published(".pom")

    @property
    def jar(self) -> Path:
        """The connector."""
        return self._published(".jar")

    @property
    def sources(self) -> Path:
        """The jar of the sources."""
        return self._published("-sources.jar")

    @property
    def javadoc(self) -> Path:
        """The jar of the documentation, which repositories call javadoc."""
        return self._published("-javadoc.jar")

    @property
    def published(self) -> tuple[Path, ...]:
        """All files of the version in the Maven repository, without their checksums."""
        return self.pom, self.jar, self.sources, self.javadoc

    @property
    def python(self) -> Path:
        """The folder of the Python distributions."""
        return self.folder / "python"

    @property
    def wheel(self) -> Path:
        """The Python package with the jar in it."""
        return self.python / f"pulsar_spark-{self.version}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        """The sources of the wheel, with the same jar."""
        return self.python / f"pulsar_spark-{self.version}.tar.gz"

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are made to be published."""
        return *self.published, self.wheel, self.sdist

    def _published(self, suffix: str) -> Path:
        return self.maven / f"{ARTIFACT}-{self.version}{suffix}"


def version_of(root: Path) -> str:
    """The version of the project, from its one source."""
    text = (root / "python/pulsar_spark/_version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found, "_version.py has no version"
    return found.group(1)
