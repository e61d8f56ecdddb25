"""What comes from the option table is fresh, and the check for that can fail."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

GENERATOR = Path(__file__).resolve().parents[3] / "tools" / "generate.py"


@pytest.fixture
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_stale() -> None:
    done = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_file_is_named_with_the_command(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "made", lambda: {tmp_path / "docs" / "page.md": "fresh"})
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    assert capsys.readouterr().err == "docs/page.md is stale. Run: make docs\n"
    assert not (tmp_path / "docs").exists()
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generate.main() == 0
    assert (tmp_path / "docs" / "page.md").read_text() == "fresh"
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 0
