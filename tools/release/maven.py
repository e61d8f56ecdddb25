"""What a public Maven repository requires of the files of a version."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from release.layout import Release

CHECKSUMS = ("md5", "sha1", "sha256", "sha512")

REQUIRED = (
    "modelVersion",
    "groupId",
    "artifactId",
    "version",
    "packaging",
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/id",
    "developers/developer/name",
    "scm/url",
    "scm/connection",
    "issueManagement/url",
)

# What makes a build fetch something else. The jar holds all it needs.
FETCHING = (
    "dependencies",
    "dependencyManagement",
    "parent",
    "repositories",
    "pluginRepositories",
    "distributionManagement",
)

_NAMESPACE = {"": "http://maven.apache.org/POM/4.0.0"}


def files_are_complete(release: Release) -> Iterator[str]:
    """POM, jar, sources and documentation, with four checksums each, and nothing else."""
    expected = {path.name + suffix for path in release.published for suffix in ("", *(f".{s}" for s in CHECKSUMS))}
    present = {path.name for path in release.maven.iterdir()} if release.maven.is_dir() else set()
    yield from (f"{name} is missing" for name in sorted(expected - present))
    yield from (f"{name} is not to be published" for name in sorted(present - expected))


def checksums_match(release: Release) -> Iterator[str]:
    """Each checksum is that of its file."""
    for path in release.published:
        for algorithm in CHECKSUMS:
            checksum = path.with_name(f"{path.name}.{algorithm}")
            if (
                checksum.exists()
                and checksum.read_text(encoding="ascii") != hashlib.new(algorithm, path.read_bytes()).hexdigest()
            ):
                yield f"{checksum.name} is not of {path.name}"


def pom_is_complete(release: Release) -> Iterator[str]:
    """The POM has every element that repositories require, and the version of the release."""
    pom = _pom(release.pom)
    for path in REQUIRED:
        if not (pom.findtext(path, "", _NAMESPACE)).strip():
            yield f"the POM has no {path}"
    if pom.findtext("version", "", _NAMESPACE) != release.version:
        yield f"the POM's version is not {release.version}"


def pom_fetches_nothing(release: Release) -> Iterator[str]:
    """The POM has no dependency, whether it is in the jar or not, no parent and no repository."""
    yield from (f"the POM has {name}" for name in FETCHING if _pom(release.pom).find(name, _NAMESPACE) is not None)


def version_is_final(release: Release) -> Iterator[str]:
    """The version is no snapshot and no local one."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", release.version):
        yield f"{release.version} is not a version to publish"


def _pom(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()
