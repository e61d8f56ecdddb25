"""Finds hosts of package registries in what is published."""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from release.layout import Release

_HOST = re.compile(rb"https?://(?:[^/@\s]*@)?([\w.-]+)")
_LABEL = re.compile(
    r"(repo|maven|mvn|nexus|artifactory|registry|pypi|pythonhosted|sonatype|jcenter|bintray|packages)\d*", re.IGNORECASE
)
_NAMESPACES = {"maven.apache.org"}  # of the elements of a POM
_TEXTS = (".pom", ".py", ".toml", ".md", ".txt", ".json", ".scala", ".java", ".properties", "METADATA", "PKG-INFO")


def no_registry_is_named(release: Release) -> Iterator[str]:
    """No address of a package registry is in the POM, in our sources or in the metadata of the Python package."""
    for name, content in _texts(release):
        yield from (f"{name} names {host}" for host in registries(content))


def registries(content: bytes) -> list[str]:
    """The hosts of addresses in a text whose name says that they are registries."""
    hosts = {found.decode() for found in _HOST.findall(content)} - _NAMESPACES
    return sorted(host for host in hosts if any(_LABEL.fullmatch(label) for label in host.split(".")))


def _texts(release: Release) -> Iterator[tuple[str, bytes]]:
    yield release.pom.name, release.pom.read_bytes()
    for archive in (release.sources, release.wheel):
        yield from _zipped(archive)
    with tarfile.open(release.sdist) as opened:
        for entry in opened:
            stream = opened.extractfile(entry) if entry.name.endswith(_TEXTS) else None
            if stream:
                yield f"{release.sdist.name}: {entry.name}", stream.read()


def _zipped(archive: Path) -> Iterator[tuple[str, bytes]]:
    with ZipFile(archive) as opened:
        for name in (name for name in opened.namelist() if name.endswith(_TEXTS)):
            yield f"{archive.name}: {name}", opened.read(name)
