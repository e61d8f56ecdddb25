"""The archive of a server's classes: made once by a trial run, and nothing that a start needs."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import LocalPulsarError, class_data, maven
from pulsar_spark.local.java import Java

if TYPE_CHECKING:
    from collections.abc import Iterator

JAVA = Java("java", 17, "any build")
VERSION = "4.2.4"


class Trials:
    """Trial runs that write their archive, or fail."""

    def __init__(self, *, fail: bool = False) -> None:
        self._fail = fail
        self.options: list[tuple[str, ...]] = []

    @contextmanager
    def run(self, folder: Path, options: tuple[str, ...]) -> Iterator[None]:
        assert folder.is_dir()
        self.options.append(options)
        if self._fail:
            raise LocalPulsarError("It did not start.")
        yield
        Path(options[0].partition("=")[2]).write_text("classes")

    def start(self) -> tuple[str, ...]:
        return class_data.options(JAVA, VERSION, ready_seconds=1, trial=self.run)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path))
    class_data.archive_file(JAVA, VERSION).parent.mkdir(parents=True)


def test_the_first_start_makes_the_archive_and_all_starts_use_it() -> None:
    trials = Trials()
    archive = class_data.archive_file(JAVA, VERSION)
    assert [trials.start(), trials.start()] == [(f"-XX:SharedArchiveFile={archive}",)] * 2
    assert archive.read_text() == "classes"
    assert len(trials.options) == 1
    assert list(archive.parent.glob(".classes-*")) == []


def test_a_trial_logs_no_line_for_each_class() -> None:
    """Else the end of the log, which an error has, would not have the reason why a server ended."""
    trials = Trials()
    trials.start()
    assert "-Xlog:cds*=off" in trials.options[0]


def test_a_start_without_an_archive_is_slower_and_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    trials = Trials(fail=True)
    assert [trials.start(), trials.start()] == [(), ()]
    assert len(trials.options) == 2
    assert "more slowly: It did not start." in caplog.text
