"""A small release for tests of the rules."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from typing import TYPE_CHECKING
from zipfile import ZipFile

from release.distributions import PYTHONS, URLS
from release.layout import Release
from release.maven import CHECKSUMS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROJECT = "https://example.com/project"
LEGAL = {"META-INF/LICENSE": b"licence", "META-INF/NOTICE": b"notice"}
CLASS = b"\xca\xfe\xba\xbe\x00\x00\x00\x3d"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><packaging>jar</packaging>
  <groupId>g</groupId><artifactId>a</artifactId><version>1.2.3</version>
  <name>n</name><description>d</description><url>{PROJECT}</url>
  <licenses><license><name>Apache-2.0</name><url>{PROJECT}</url></license></licenses>
  <developers><developer><id>i</id><name>n</name></developer></developers>
  <scm><url>{PROJECT}</url><connection>scm:git:{PROJECT}.git</connection></scm>
  <issueManagement><url>{PROJECT}</url></issueManagement>
</project>
"""
LIBRARIES = f"""\
# comment
org.example:one:1.0 | Apache-2.0 | {"a" * 64}
org.example:two:2.0:linux-x86_64 | EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0 | {"b" * 64}
"""
JAR = {
    **LEGAL,
    "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n",
    "META-INF/license/THIRD-PARTY.txt": LIBRARIES.encode(),
    "io/github/pulsarspark/PulsarTable.class": CLASS,
    "io/github/pulsarspark/shaded/org/example/One.class": CLASS[:-1] + b"\x34",
}
SOURCES = {
    **LEGAL,
    "io/github/pulsarspark/PulsarTable.scala": b"class PulsarTable",
    "io/github/pulsarspark/EntryFeed.java": b"interface EntryFeed {}",
    "io/github/pulsarspark/errors/Conditions.scala": b"object Conditions",
    "sbt-buildinfo/BuildInfo.scala": b"object BuildInfo",
}
JAVADOC = {
    **LEGAL,
    "index.html": b"all",
    "io/github/pulsarspark/index.html": b"package",
    "io/github/pulsarspark/PulsarTableProvider.html": b"class",
}
METADATA = "\n".join(
    [
        "Metadata-Version: 2.4",
        "Name: pulsar-spark",
        "Version: 1.2.3",
        "Summary: summary",
        "License-Expression: Apache-2.0",
        "Keywords: spark",
        "Requires-Python: >=3.10",
        "Description-Content-Type: text/markdown",
        "Requires-Dist: pyspark<4.4,>=4.0",
        "Requires-Dist: ruff; extra == 'dev'",
        *(f"Project-URL: {label}, {PROJECT}" for label in URLS),
        *(f"Classifier: Programming Language :: Python :: {python}" for python in PYTHONS),
        "",
        "# Read me",
        "",
    ]
)


def make(folder: Path) -> Release:
    """A release in which nothing is wrong, but for bills of materials."""
    release = Release(folder, "1.2.3")
    release.maven.mkdir(parents=True)
    release.python.mkdir()
    release.pom.write_text(POM)
    write_zip(release.jar, JAR)
    write_zip(release.sources, SOURCES)
    write_zip(release.javadoc, JAVADOC)
    write_checksums(release)
    write_distributions(release)
    return release


def write_zip(path: Path, entries: Mapping[str, bytes | str]) -> None:
    with ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def write_checksums(release: Release) -> None:
    for path in release.published:
        for algorithm in CHECKSUMS:
            checksum = hashlib.new(algorithm, path.read_bytes()).hexdigest()
            path.with_name(f"{path.name}.{algorithm}").write_text(checksum)


def write_distributions(
    release: Release, metadata: str = METADATA, files: Mapping[str, bytes] | None = None, jar: bytes = b""
) -> None:
    """Writes wheel and source distribution; `files` are more files of the package, or others of the same name."""
    info = "pulsar_spark-1.2.3.dist-info"
    package = {f"pulsar_spark/jars/{release.jar.name}": jar or release.jar.read_bytes(), **(files or {})}
    entries = {
        **package,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\n",
        f"{info}/licenses/LICENSE": b"licence",
        f"{info}/licenses/NOTICE": b"notice",
    }
    write_zip(release.wheel, {**entries, f"{info}/RECORD": record(entries) + f"{info}/RECORD,,\n"})
    sources = {"LICENSE": b"licence", "NOTICE": b"notice", "PKG-INFO": metadata.encode(), **package}
    with tarfile.open(release.sdist, "w:gz") as archive:
        for name, content in sources.items():
            entry = tarfile.TarInfo(f"pulsar_spark-1.2.3/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def record(entries: Mapping[str, bytes]) -> str:
    digests = {
        n: base64.urlsafe_b64encode(hashlib.sha256(c).digest()).rstrip(b"=").decode() for n, c in entries.items()
    }
    return "".join(f"{name},sha256={digest},{len(entries[name])}\n" for name, digest in digests.items())
