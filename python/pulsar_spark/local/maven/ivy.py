"""Downloads by Ivy, whose jar is part of Spark."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from pulsar_spark.local.errors import FetchError, ServerUnavailableError
from pulsar_spark.local.java import java_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulsar_spark.local.maven.coordinate import Coordinate

MIRROR_VARIABLE = "PULSAR_SPARK_MAVEN_MIRROR"

FETCHED = "fetched"
_POLL_SECONDS = 0.1
_PROGRESS_SECONDS = 3.0
_MEGABYTE = 1_000_000


def ivy_jar() -> Path:
    """The Ivy jar of the installed pyspark, else that of ``SPARK_HOME``."""
    spec, home = importlib.util.find_spec("pyspark"), os.environ.get("SPARK_HOME")
    folders = [Path(spec.origin).parent] if spec is not None and spec.origin is not None else []
    folders += [Path(home)] if home else []
    if not folders:
        raise FetchError(
            "No pyspark in this Python and no SPARK_HOME: Spark's Ivy jar does the downloads. "
            "Run: pip install 'pulsar-spark[spark]'"
        )
    jars = [jar for folder in folders for jar in sorted((folder / "jars").glob("ivy-*.jar"), reverse=True)]
    if not jars:
        raise FetchError(
            f"The Spark in {' and in '.join(map(str, folders))} has no jars/ivy-*.jar: install the full pyspark."
        )
    return jars[0]


def run(requested: Sequence[Coordinate], work: Path, deadline: float) -> None:
    """Download the files to the paths of `fetched_file`."""
    settings, module, log = work / "settings.xml", work / "ivy.xml", work / "log.txt"
    settings.write_text(_settings_xml(work / "ivy-cache", os.environ.get(MIRROR_VARIABLE)), encoding="utf-8")
    module.write_text(_module_xml(requested), encoding="utf-8")
    command = [_java(), "-Xmx256m", "-jar", str(ivy_jar()), "-settings", str(settings), "-ivy", str(module)]
    pattern = "[organisation]-[artifact]-[revision](-[classifier]).[ext]"
    command += ["-retrieve", str(work / FETCHED / pattern)]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    what = str(requested[0]) if len(requested) == 1 else f"{len(requested)} files"
    try:
        in_time = _wait_with_progress(process, what, work, deadline)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if not in_time:
        raise FetchError(f"{what}: not downloaded in time. Check the network, or name a mirror in {MIRROR_VARIABLE}.")
    if process.returncode != 0 or not all(fetched_file(one, work).exists() for one in requested):
        raise FetchError(_failure_text(requested, log.read_text(encoding="utf-8", errors="replace")))


def _wait_with_progress(process: subprocess.Popen[bytes], what: str, work: Path, deadline: float) -> bool:
    """Wait for the process until the deadline; returns whether it ended. Reports progress on stderr."""
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
        except FileNotFoundError:  # Ivy renames its part files meanwhile
            continue
    return total


def _settings_xml(ivy_cache: Path, mirror: str | None) -> str:
    root = f" root={quoteattr(mirror.rstrip('/') + '/')}" if mirror else ""
    return (
        '<ivysettings><settings defaultResolver="registry"/>'
        f"<caches defaultCacheDir={quoteattr(str(ivy_cache))}/>"
        f'<resolvers><ibiblio name="registry" m2compatible="true" usepoms="false"{root}/></resolvers></ivysettings>'
    )


def _module_xml(requested: Sequence[Coordinate]) -> str:
    def module(one: Coordinate) -> tuple[str, str, str]:
        return one.group, one.artifact, one.version

    dependencies = [
        f'<dependency org="{group}" name="{name}" rev="{version}" transitive="false">'
        f"{''.join(map(_artifact_xml, artifacts))}</dependency>"
        for (group, name, version), artifacts in itertools.groupby(sorted(requested, key=module), key=module)
    ]
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="io.github.pulsar-spark" module="fetch"/>'
        f"<dependencies>{''.join(dependencies)}</dependencies></ivy-module>"
    )


def _artifact_xml(requested: Coordinate) -> str:
    classifier = f' m:classifier="{requested.classifier}"' if requested.classifier else ""
    return (
        f'<artifact name="{requested.artifact}" type="{requested.extension}" ext="{requested.extension}"{classifier}/>'
    )


def _failure_text(requested: Sequence[Coordinate], log: str) -> str:
    """Distinguish an unreachable registry from a missing artifact by Ivy's output."""
    network = re.findall(r"(?m)^.*(?:Host \S+ not found|[Cc]onnection refused|timed out|SERVER ERROR|PKIX).*$", log)
    tried = re.findall(r"(?m)^\s+((?:https?|file):\S+)$", log)
    what = next((one for one in requested if tried and tried[-1].endswith(f"/{one.file_name}")), requested[0])
    advice = f"Check the network, or name a mirror in {MIRROR_VARIABLE}."
    if network:
        return f"The Maven registry could not be reached for {what}: {network[0].strip()}. {advice}"
    if tried:
        return f"The Maven registry has no {what} (tried {tried[-1]}). Check the coordinate and {MIRROR_VARIABLE}."
    return f"Ivy could not fetch {what}. {advice} Its output:\n{log[-2000:]}"


def fetched_file(requested: Coordinate, work: Path) -> Path:
    """The path of a file that `run` downloaded."""
    return work / FETCHED / f"{requested.group}-{requested.file_name}"


def _java() -> str:
    try:
        return java_command()
    except ServerUnavailableError as error:
        raise FetchError(str(error)) from error
