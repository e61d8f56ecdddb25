"""Programs that stand for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

JAVA_17 = """\
Property settings:
    java.specification.version = 17
    java.vendor = Somebody
    java.vm.version = 17.0.15+6
openjdk version "17.0.15" 2025-04-15
"""


def fake_java(folder: Path, said: str, code: int = 0) -> str:
    file = folder / "java"
    file.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\nexit {code}\n")
    file.chmod(0o755)
    return str(file)
