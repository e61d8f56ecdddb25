"""What a public Python package index requires of the wheel and the source distribution."""

from __future__ import annotations

import base64
import csv
import hashlib
import subprocess
import sys
import tarfile
from collections import Counter
from email import message_from_bytes
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from release.layout import Release

FIELDS = ("Name", "Version", "Summary", "Requires-Python", "License-Expression", "Description-Content-Type", "Keywords")
URLS = ("Homepage", "Documentation", "Source", "Issues", "Changelog")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
LEGAL = ("LICENSE", "NOTICE")


def wheel_metadata_is_complete(release: Release) -> Iterator[str]:
    """The wheel has summary, readme, licence, addresses and the classifiers of all Python versions."""
    metadata = _metadata(release)
    yield from (f"the wheel has no {field}" for field in FIELDS if not metadata[field])
    if not str(metadata.get_payload()).strip():
        yield "the wheel has no readme"
    if metadata["Version"] != release.version:
        yield f"the wheel's version is not {release.version}"
    labels = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    yield from (f"the wheel has no address {label}" for label in URLS if label not in labels)
    classifiers = metadata.get_all("Classifier", [])
    yield from (
        f"the wheel has no classifier of Python {python}"
        for python in PYTHONS
        if f"Programming Language :: Python :: {python}" not in classifiers
    )


def wheel_record_matches(release: Release) -> Iterator[str]:
    """The wheel has each file once, and its record has the hash of each."""
    with ZipFile(release.wheel) as opened:
        names = opened.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        recorded = {name: digest for name, digest, _ in csv.reader(opened.read(record).decode().splitlines())}
        yield from (f"the wheel has {name} {times} times" for name, times in Counter(names).items() if times > 1)
        yield from (f"{name} is recorded and missing" for name in sorted(set(recorded) - set(names)))
        for name in sorted(set(names) - {record}):
            digest = base64.urlsafe_b64encode(hashlib.sha256(opened.read(name)).digest()).rstrip(b"=").decode()
            if recorded.get(name) != f"sha256={digest}":
                yield f"the record has another hash of {name}"


def distributions_have_licence_and_notice(release: Release) -> Iterator[str]:
    """Wheel and source distribution have the licence and the notice of the jar."""
    with ZipFile(release.jar) as jar:
        expected = {name: jar.read(f"META-INF/{name}") for name in LEGAL}
    info, top = f"pulsar_spark-{release.version}.dist-info/licenses/", f"pulsar_spark-{release.version}/"
    with ZipFile(release.wheel) as wheel:
        found = {name: wheel.read(info + name) for name in LEGAL if info + name in wheel.namelist()}
    yield from (f"the wheel does not have the {name} of the jar" for name in LEGAL if found.get(name) != expected[name])
    with tarfile.open(release.sdist) as sdist:
        streams = {name: sdist.extractfile(top + name) for name in LEGAL if top + name in sdist.getnames()}
        found = {name: stream.read() for name, stream in streams.items() if stream}
    for name in LEGAL:
        if found.get(name) != expected[name]:
            yield f"the source distribution does not have the {name} of the jar"


def distributions_have_the_jar(release: Release) -> Iterator[str]:
    """Wheel and source distribution have the published jar, and no other."""
    path, jar = f"pulsar_spark/jars/{release.jar.name}", release.jar.read_bytes()
    with ZipFile(release.wheel) as wheel:
        found = {name: wheel.read(name) for name in wheel.namelist() if name.endswith(".jar")}
    if found != {path: jar}:
        yield f"the wheel does not have the published jar alone, but {sorted(found)}"
    with tarfile.open(release.sdist) as sdist:
        streams = {entry.name: sdist.extractfile(entry) for entry in sdist if entry.name.endswith(".jar")}
        found = {name: stream.read() for name, stream in streams.items() if stream}
    if found != {f"pulsar_spark-{release.version}/{path}": jar}:
        yield f"the source distribution does not have the published jar alone, but {sorted(found)}"


def twine_accepts(release: Release) -> Iterator[str]:
    """`twine check --strict` accepts wheel and source distribution."""
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict"]
    result = subprocess.run([*command, release.wheel, release.sdist], capture_output=True, text=True, check=False)
    if result.returncode:
        yield (result.stdout + result.stderr).strip()


def _metadata(release: Release) -> Message:
    with ZipFile(release.wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(opened.read(name))
