"""The packaged connector that tests use: one that is named, or the newest of this checkout, which must not be stale."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JAR = "PULSAR_SPARK_JAR"
"""Names a jar that is used as it is."""

_ROOT = Path(__file__).resolve().parents[3]
_FOLDERS = ("python/pulsar_spark/jars", "dist")
_PATTERN = "pulsar-spark-connector_2.13-*.jar"
_SOURCES = (
    *("connector/src/main/**/*", "connector/src/realtime/java/**/*"),
    *("build.sbt", "project/*.scala", "project/*.sbt", "project/build.properties"),
)
_BUILD = "Build it with: make jar"


class NoJarError(RuntimeError):
    """There is no jar for the tests, or it is older than its sources; the message says how to build it."""


def packaged_jar(root: Path = _ROOT, environment: Mapping[str, str] = os.environ) -> Path:
    """The jar that the environment names, else the newest of the checkout.

    Raises:
        NoJarError: It is missing, or a source of it has changed since.
    """
    named = environment.get(JAR)
    if named:
        jar = Path(named)
        if not jar.is_file():
            raise NoJarError(f"The connector's jar is missing ({JAR}={named}). {_BUILD}")
        return jar
    jars = [jar for folder in _FOLDERS for jar in (root / folder).glob(_PATTERN)]
    if not jars:
        raise NoJarError(f"The connector's jar is missing ({_PATTERN} in {' and '.join(_FOLDERS)}). {_BUILD}")
    jar = max(jars, key=_changed)
    newest = max(_sources(root), key=_changed, default=jar)
    if _changed(newest) > _changed(jar):
        raise NoJarError(f"The connector's jar is older than {newest.relative_to(root)}. {_BUILD}")
    return jar


def _sources(root: Path) -> Iterator[Path]:
    return (path for pattern in _SOURCES for path in root.glob(pattern) if path.is_file())


def _changed(path: Path) -> float:
    return path.stat().st_mtime
