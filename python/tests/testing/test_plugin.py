"""pytest finds the fixtures by itself, and pays nothing for them in a run that does not use them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from pulsar_spark.testing.addresses import ADMIN_URL, SERVER, URL

if TYPE_CHECKING:
    from pathlib import Path

UNUSED = """
import sys

def test_nothing_is_imported():
    assert "pytest_pulsar_spark" in sys.modules
    assert not {"pulsar_spark", "pyspark", "pulsar"} & sys.modules.keys()
"""
USED = """
def test_server(pulsar_server):
    pass
"""


def run(folder: Path, test: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_project.py").write_text(test)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in (URL, ADMIN_URL, SERVER)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_without_the_fixtures_does_not_import_the_package(tmp_path: Path) -> None:
    done = run(tmp_path, UNUSED, "-q")
    assert done.returncode == 0, done.stdout


def test_the_fixtures_say_what_they_are(tmp_path: Path) -> None:
    shown = run(tmp_path, UNUSED, "--fixtures").stdout
    for fixture in (
        "pulsar_server [session scope]",
        "pulsar_session [session scope]",
        "pulsar_namespace",
        "pulsar_topic",
    ):
        assert f"{fixture} -- " in shown


def test_options_choose_the_server_and_a_wrong_one_is_one_message(tmp_path: Path) -> None:
    done = run(tmp_path, USED, "-q", "--pulsar-url", "pulsar://somewhere:6650")
    assert done.returncode == 1
    assert f"{URL} is set to pulsar://somewhere:6650 but {ADMIN_URL} is not; the tests need both." in done.stdout
    assert "Traceback" not in done.stdout
    assert "--pulsar-server" in run(tmp_path, USED, "--pulsar-server", "cloud").stderr
