"""Fetch files from the Maven registry by their coordinates.

The Ivy jar inside the installed pyspark does the talking and knows the public registry by itself, so the only needs are
pyspark and a ``java`` command. ``PULSAR_SPARK_MAVEN_MIRROR`` names the root of another registry;
``PULSAR_SPARK_CACHE`` names the folder where fetched files are kept.

Command line: ``python -m pulsar_spark.local.maven GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXT] [--sha256 SUM]`` prints
the path.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MIRROR_VARIABLE = "PULSAR_SPARK_MAVEN_MIRROR"
CACHE_VARIABLE = "PULSAR_SPARK_CACHE"
DEFAULT_TIMEOUT_SECONDS = 1800.0

_FETCHED = "fetched"
_OTHER_FILE = "The registry or mirror served another file than this version expects."
_POLL_SECONDS = 0.1
_PROGRESS_SECONDS = 3.0
_MEGABYTE = 1_000_000

_COORDINATE = re.compile(
    r"(?P<group>[\w.-]+):(?P<artifact>[\w.-]+):(?P<version>[\w.+-]+)(:(?P<classifier>[\w.-]+))?(@(?P<extension>[\w.]+))?"
)


class FetchError(RuntimeError):
    """A file could not be fetched; the message says what was tried and what to do."""


@dataclass(frozen=True)
class Coordinate:
    """What names a file in a Maven registry."""

    group: str
    artifact: str
    version: str
    classifier: str | None
    extension: str

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        """Read ``group:artifact:version[:classifier][@ext]``; the extension is ``jar`` when none is given.

        Raises:
            FetchError: The text has another form.
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
        """Where ``cache`` keeps the file: the folders of a Maven repository."""
        return cache.joinpath("maven", *self.group.split("."), self.artifact, self.version, self.file_name)

    def __str__(self) -> str:
        """The coordinate as it is written."""
        classifier = f":{self.classifier}" if self.classifier else ""
        return f"{self.group}:{self.artifact}:{self.version}{classifier}@{self.extension}"


def cache_folder() -> Path:
    """The folder for fetched files: ``PULSAR_SPARK_CACHE``, else ``pulsar-spark`` in the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pulsar-spark"


def java_command() -> str:
    """The ``java`` of ``JAVA_HOME`` when that is set, else the one on ``PATH``.

    Raises:
        FetchError: There is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home) / "bin" / "java")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME is {home} but holds no bin/java" if home else "JAVA_HOME is not set and PATH has no java"
        raise FetchError(f"No java: {where}. Install a JDK 17 or newer, or set JAVA_HOME to one.")
    return found


def fetch(
    coordinate: str,
    *,
    sha256: str | None,
    cache: Path | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> Path:
    """Return the local path of a Maven artifact, downloading it when the cache does not hold it yet.

    Safe with several processes at once: one downloads, the others wait. A file appears in the cache whole and checked,
    or not at all.

    Args:
        coordinate: ``group:artifact:version[:classifier][@ext]``.
        sha256: The checksum the file must have, or None to accept what the registry serves.
        cache: The folder to keep the file in; see `cache_folder` for the default.
        timeout_seconds: How long to wait in all, for another process or for the download.

    Raises:
        FetchError: No java, no pyspark, no such artifact, no network, a wrong checksum, or out of time.
    """
    wanted = Coordinate.parse(coordinate)
    target = wanted.path_in(cache or cache_folder())
    record = target.with_name(target.name + ".sha256")
    deadline = time.monotonic() + timeout_seconds
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(target.name + ".lock"), deadline):
            if not target.exists():
                _download(wanted, target, record, sha256, deadline)
    _compare(wanted, record.read_text(encoding="ascii").strip(), sha256, f"Delete {target} to fetch it again.")
    return target


def fetch_all(checksums: Mapping[str, str], folder: Path, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
    """Download several artifacts into a new folder, each under its group and its file name.

    Args:
        checksums: For each coordinate the SHA-256 that the file must have.
        folder: Where to; its parent exists.
        timeout_seconds: How long to wait in all.

    Raises:
        FetchError: As `fetch`; nothing is in the folder then.
    """
    wanted = {Coordinate.parse(text): sha256 for text, sha256 in checksums.items()}
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as name:
        work = Path(name)
        _run_ivy(list(wanted), work, time.monotonic() + timeout_seconds)
        for one, sha256 in wanted.items():
            file = _fetched_file(one, work)
            _compare(one, _sha256_of(file), sha256, _OTHER_FILE)
        (work / _FETCHED).rename(folder)


def _compare(wanted: Coordinate, found: str, expected: str | None, advice: str) -> None:
    if expected is not None and found != expected.lower():
        raise FetchError(f"The checksum of {wanted} is {found}, expected {expected.lower()}. {advice}")


@contextmanager
def _locked(path: Path, deadline: float) -> Iterator[None]:
    with path.open("w", encoding="ascii") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise FetchError(f"Another process has held {path} for too long; is it still running?") from None
                time.sleep(_POLL_SECONDS)
        yield


def _download(wanted: Coordinate, target: Path, record: Path, sha256: str | None, deadline: float) -> None:
    # The work folder lies beside the target, so that the last step is a rename within one file system.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
        work = Path(folder)
        _run_ivy([wanted], work, deadline)
        file = _fetched_file(wanted, work)
        found = _sha256_of(file)
        _compare(wanted, found, sha256, _OTHER_FILE)
        record.write_text(found + "\n", encoding="ascii")
        file.rename(target)


def _fetched_file(wanted: Coordinate, work: Path) -> Path:
    return work / _FETCHED / f"{wanted.group}-{wanted.file_name}"


def _sha256_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_MEGABYTE):
            digest.update(chunk)
    return digest.hexdigest()


def ivy_jar() -> Path:
    """The Ivy jar of the installed pyspark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise FetchError(
            "No pyspark in this Python: its Ivy jar does the downloads. Run: pip install 'pyspark>=4.0,<4.4'"
        )
    jars = sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))
    if not jars:
        raise FetchError(
            f"The pyspark in {Path(spec.origin).parent} has no jars/ivy-*.jar: install the full pyspark package."
        )
    return jars[-1]


def _run_ivy(wanted: Sequence[Coordinate], work: Path, deadline: float) -> None:
    """Let Ivy put the files where `_fetched_file` says."""
    settings, module, log = work / "settings.xml", work / "ivy.xml", work / "log.txt"
    settings.write_text(_settings_xml(work / "ivy-cache", os.environ.get(MIRROR_VARIABLE)), encoding="utf-8")
    module.write_text(_module_xml(wanted), encoding="utf-8")
    command = [java_command(), "-Xmx256m", "-jar", str(ivy_jar()), "-settings", str(settings), "-ivy", str(module)]
    pattern = "[organisation]-[artifact]-[revision](-[classifier]).[ext]"
    command += ["-retrieve", str(work / _FETCHED / pattern)]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    what = str(wanted[0]) if len(wanted) == 1 else f"{len(wanted)} files"
    try:
        in_time = _wait_with_progress(process, what, work, deadline)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if not in_time:
        raise FetchError(f"{what}: not downloaded in time. Check the network, or name a mirror in {MIRROR_VARIABLE}.")
    if process.returncode != 0 or not all(_fetched_file(one, work).exists() for one in wanted):
        raise FetchError(_failure_text(wanted, log.read_text(encoding="utf-8", errors="replace")))


def _wait_with_progress(process: subprocess.Popen[bytes], what: str, work: Path, deadline: float) -> bool:
    """Wait for the process until the deadline; True when it ended by itself. A long wait writes lines to stderr."""
    report_at = time.monotonic() + _PROGRESS_SECONDS
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            return False
        if now > report_at:
            report_at = now + _PROGRESS_SECONDS
            megabytes = _bytes_below(work / "ivy-cache") / _MEGABYTE
            print(f"fetching {what}: {megabytes:.0f} MB", file=sys.stderr, flush=True)
        time.sleep(_POLL_SECONDS)
    return True


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # Ivy renames its part files while they are being counted
            continue
    return total


def _settings_xml(ivy_cache: Path, mirror: str | None) -> str:
    root = f" root={quoteattr(mirror.rstrip('/') + '/')}" if mirror else ""
    return (
        '<ivysettings><settings defaultResolver="registry"/>'
        f"<caches defaultCacheDir={quoteattr(str(ivy_cache))}/>"
        f'<resolvers><ibiblio name="registry" m2compatible="true" usepoms="false"{root}/></resolvers></ivysettings>'
    )


def _module_xml(wanted: Sequence[Coordinate]) -> str:
    def module(one: Coordinate) -> tuple[str, str, str]:
        return one.group, one.artifact, one.version

    dependencies = [
        f'<dependency org="{group}" name="{name}" rev="{version}" transitive="false">'
        f"{''.join(map(_artifact_xml, artifacts))}</dependency>"
        for (group, name, version), artifacts in itertools.groupby(sorted(wanted, key=module), key=module)
    ]
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="io.github.pulsar-spark" module="fetch"/>'
        f"<dependencies>{''.join(dependencies)}</dependencies></ivy-module>"
    )


def _artifact_xml(wanted: Coordinate) -> str:
    classifier = f' m:classifier="{wanted.classifier}"' if wanted.classifier else ""
    return f'<artifact name="{wanted.artifact}" type="{wanted.extension}" ext="{wanted.extension}"{classifier}/>'


def _failure_text(wanted: Sequence[Coordinate], log: str) -> str:
    """Tell an unreachable registry from a missing artifact, by what Ivy wrote."""
    network = re.findall(r"(?m)^.*(?:Host \S+ not found|[Cc]onnection refused|timed out|SERVER ERROR|PKIX).*$", log)
    tried = re.findall(r"(?m)^\s+((?:https?|file):\S+)$", log)
    what = next((one for one in wanted if tried and tried[-1].endswith(f"/{one.file_name}")), wanted[0])
    advice = f"Check the network, or name a mirror in {MIRROR_VARIABLE}."
    if network:
        return f"The Maven registry could not be reached for {what}: {network[0].strip()}. {advice}"
    if tried:
        return f"The Maven registry has no {what} (tried {tried[-1]}). Check the coordinate and {MIRROR_VARIABLE}."
    return f"Ivy could not fetch {what}. {advice} It said:\n{log[-2000:]}"


def main(arguments: list[str] | None = None) -> int:
    """Fetch one coordinate and print its path; see the module's text."""
    parser = argparse.ArgumentParser(
        prog="python -m pulsar_spark.local.maven", description="Fetch a file from the Maven registry."
    )
    parser.add_argument("coordinate", help="group:artifact:version[:classifier][@ext]")
    parser.add_argument("--sha256", help="the checksum the file must have")
    chosen = parser.parse_args(arguments)
    try:
        print(fetch(chosen.coordinate, sha256=chosen.sha256))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
