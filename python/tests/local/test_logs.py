"""What is shown of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark.local.logs import log_tail

if TYPE_CHECKING:
    from pathlib import Path


def test_the_log_tail_is_short_and_narrow(tmp_path: Path) -> None:
    file = tmp_path / "log"
    assert log_tail(file) == "  (no log was written)"
    file.write_text("".join(f"line {number} {'x' * 20_000}\n" for number in range(100)))
    lines = log_tail(file).splitlines()
    assert max(map(len, lines)) <= 222
    assert lines[-1].startswith("  line 99 ")
    file.write_text("only\n")
    assert log_tail(file) == "  only"
