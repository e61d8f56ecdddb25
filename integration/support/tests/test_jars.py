"""The choice of the jar, and the errors when it is missing or stale."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support.runs.jars import JAR, NoJarError, packaged_jar

if TYPE_CHECKING:
    from pathlib import Path

_JAR = "python/pulsar_spark/jars/pulsar-spark-connector_2.13-1.jar"
_SOURCE = "connector/src/main/scala/a/B.scala"


def _file(root: Path, name: str, changed: int) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (changed, changed))
    return path


def test_the_newest_jar_is_taken(tmp_path: Path) -> None:
    _file(tmp_path, _JAR, 2)
    newer = _file(tmp_path, "dist/pulsar-spark-connector_2.13-2.jar", 3)
    _file(tmp_path, _SOURCE, 3)
    assert packaged_jar(tmp_path, {}) == newer


@pytest.mark.parametrize("source", [_SOURCE, "build.sbt", "project/Versions.scala", "project/build.properties"])
def test_a_jar_that_is_older_than_a_source_is_refused(tmp_path: Path, source: str) -> None:
    _file(tmp_path, _JAR, 2)
    _file(tmp_path, source, 3)
    with pytest.raises(NoJarError, match=rf"is older than {source}\. .*make jar"):
        packaged_jar(tmp_path, {})


def test_a_missing_jar_is_an_error_that_says_how_to_build_it(tmp_path: Path) -> None:
    for environment in ({}, {JAR: "nowhere.jar"}):
        with pytest.raises(NoJarError, match=r"is missing .*make jar"):
            packaged_jar(tmp_path, environment)


def test_a_jar_that_is_named_is_used_as_it_is(tmp_path: Path) -> None:
    named = _file(tmp_path, "mine.jar", 1)
    _file(tmp_path, _SOURCE, 3)
    assert packaged_jar(tmp_path, {JAR: str(named)}) == named
