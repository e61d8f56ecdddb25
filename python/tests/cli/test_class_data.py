"""The class data archive of the command line: made behind a command, once, and used by the next ones."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark.cli import class_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Java

LIST = ("partitions", "--service-url", "pulsar://b:6650", "c")
SECONDS = 60
# Java that answers, and makes an archive of the file `classes` when it may.
JAVA = """#!/bin/sh
for word in "$@"; do case $word in -XX:ArchiveClassesAtExit=*) part=${{word#*=}} ;; esac; done
[ -n "$part" ] || exec {folder}/bin/answers "$@"
echo started >> {folder}/started
turns=0
until [ -e {folder}/go ] || [ $turns -gt 3000 ]; do turns=$((turns + 1)); sleep 0.02; done
cat {folder}/classes > "$part" || rm "$part"
"""
make_later = class_data.make_later


class Maker:
    """The processes that make archives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes = class_data._started
        (folder / "bin" / "java").rename(folder / "bin" / "answers")
        script = folder / "bin" / "java"
        script.write_text(JAVA.format(folder=folder))
        script.chmod(0o755)
        (folder / "classes").write_text("classes")

    def finish(self) -> None:
        """Let them go on, and wait for their end."""
        (self._folder / "go").touch()
        for process in self.processes:
            process.wait(SECONDS)

    @property
    def count(self) -> int:
        """How often Java was started for an archive."""
        return len((self._folder / "started").read_text().splitlines())

    @property
    def archives(self) -> list[Path]:
        return sorted(self._files("*.jsa"))

    @property
    def unfinished(self) -> list[Path]:
        return self._files("*.part")

    def _files(self, pattern: str) -> list[Path]:
        return list((self._folder / "cache" / "classes").glob(pattern))


@pytest.fixture
def maker(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maker]:
    java.rows({"topic": "STRING"})
    monkeypatch.setattr(class_data, "make_later", make_later)
    monkeypatch.setattr(class_data, "_started", [])
    found = Maker(tmp_path)
    yield found
    found.finish()


def test_a_command_answers_first_and_the_next_one_uses_the_archive(
    maker: Maker, java: Java, shown: Callable[..., Any]
) -> None:
    assert shown(*LIST) == "There are no partitions.\n"
    assert (len(maker.processes), maker.archives) == (1, [])
    assert "SharedArchiveFile" not in java.arguments
    maker.finish()
    (archive,) = maker.archives
    assert archive.read_text() == "classes"
    shown(*LIST)
    assert f"-XX:SharedArchiveFile={archive}" in java.arguments
    assert (len(maker.processes), maker.unfinished) == (1, [])


def test_commands_at_the_same_time_make_it_once(maker: Maker, shown: Callable[..., Any]) -> None:
    for _ in range(3):
        shown(*LIST)
    maker.finish()
    assert (len(maker.processes), maker.count, len(maker.archives)) == (3, 1, 1)


def test_java_that_makes_none_is_asked_once(
    maker: Maker, java: Java, shown: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "classes").unlink()
    shown(*LIST)
    maker.finish()
    assert [archive.stat().st_size for archive in maker.archives] == [0]
    shown(*LIST)
    assert len(maker.processes) == 1
    assert "SharedArchiveFile" not in java.arguments


def test_an_archive_is_replaced_when_the_jar_changes(maker: Maker, shown: Callable[..., Any], tmp_path: Path) -> None:
    shown(*LIST)
    maker.finish()
    before = maker.archives
    os.utime(tmp_path / "connector.jar", ns=(1, 1))
    shown(*LIST)
    maker.finish()
    assert len(maker.archives) == 1
    assert maker.archives != before


def test_an_archive_that_was_not_finished_is_made_anew(maker: Maker, shown: Callable[..., Any]) -> None:
    shown(*LIST)
    (first,) = maker.processes
    os.killpg(first.pid, signal.SIGKILL)
    first.wait(SECONDS)
    assert maker.archives == []
    shown(*LIST)
    maker.finish()
    assert [archive.read_text() for archive in maker.archives] == ["classes"]
    assert maker.unfinished == []


@pytest.mark.usefixtures("maker")
def test_a_folder_that_cannot_be_written_is_no_error(
    shown: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSAR_SPARK_CACHE", str(tmp_path / "connector.jar"))
    assert shown(*LIST) == "There are no partitions.\n"
