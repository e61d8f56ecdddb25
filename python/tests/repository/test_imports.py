"""What works in a Python without pyspark, or with one that is not supported, and what is reported."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import pulsar_spark
from pulsar_spark import PulsarImportError, PulsarSetupError
from pulsar_spark._spark import require_pyspark

if TYPE_CHECKING:
    from pathlib import Path

NEED_SPARK = [
    "from pulsar_spark import read_pulsar",
    "import pulsar_spark; pulsar_spark.session()",
    "import pulsar_spark; pulsar_spark.plan",
    "import pulsar_spark.io",
    "from pulsar_spark import functions",
    "import pulsar_spark; pulsar_spark.progress",
]
TEXT = (
    "[PULSAR_SPARK_VERSION] pulsar-spark needs pyspark 4.0, 4.1, 4.2 or 4.3, but {found}. "
    "What to do: Run: pip install 'pulsar-spark[spark]'. "
    "On a managed runtime keep its own pyspark, and choose a runtime with one of these versions."
)


def python(program: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program without pyspark, or with the one in a folder."""
    hidden = "" if path else "import sys; sys.modules['pyspark'] = None\n"
    places = [*([str(path)] if path else []), *sys.path]
    return subprocess.run(
        [sys.executable, "-c", hidden + inspect.cleandoc(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )


def foreign(folder: Path, text: str) -> Path:
    """A folder with a module ``pyspark`` of this text."""
    (folder / "pyspark.py").write_text(text)
    return folder


@pytest.mark.parametrize("program", NEED_SPARK)
def test_without_pyspark_one_sentence_says_what_to_install(program: str) -> None:
    last = python(program).stderr.splitlines()[-1]
    assert last == f"pulsar_spark.errors.PulsarImportError: {TEXT.format(found='there is none')}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("__version__ = '3.5.6'", "this is 3.5.6"),
        ("__version__ = '4.4.0.dev1'", "this is 4.4.0.dev1"),
        ("__version__ = 'dev'", "this is dev"),
        ("", "this is a module `pyspark` without a version"),
        (
            "__version__ = '4.3.0'",
            "this one cannot be imported: No module named 'pyspark.sql'; 'pyspark' is not a package",
        ),
    ],
)
def test_another_pyspark_is_reported_with_what_it_is(text: str, found: str, tmp_path: Path) -> None:
    path = foreign(tmp_path, text)
    last = python(NEED_SPARK[0], path).stderr.splitlines()[-1]
    assert last == f"pulsar_spark.errors.PulsarImportError: {TEXT.format(found=found)}"


@pytest.mark.parametrize("version", ["4.0.0", "4.1.4", "4.2.1.dev1", "4.3.0", "4.0.1-amzn-0", "4.1.0+vendor.2"])
def test_supported_versions(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    require_pyspark()


def test_the_error_is_one_of_imports_and_of_the_setup() -> None:
    error = PulsarImportError("PULSAR_SPARK_VERSION", found="there is none")
    assert isinstance(error, ImportError)
    assert isinstance(error, PulsarSetupError)
    assert str(error) == TEXT.format(found="there is none")
    assert error.condition == "PULSAR_SPARK_VERSION"


def test_what_needs_no_spark_works_without_pyspark(tmp_path: Path) -> None:
    program = """
        import pulsar_spark
        from pulsar_spark import PulsarSparkError, errors, maven_coordinate
        from pulsar_spark.local import LocalPulsar
        print(pulsar_spark.PulsarReadOptions(topic="t"), maven_coordinate())
        print(errors.condition_of(RuntimeError("[PULSAR_DATA_LOSS.TRIMMED] x")), LocalPulsar.__name__)
    """
    for path in (None, foreign(tmp_path, "__version__ = '3.5.6'")):
        done = python(program, path)
        assert done.stdout.splitlines() == [
            f"PulsarReadOptions(topic='t') {pulsar_spark.maven_coordinate()}",
            "PULSAR_DATA_LOSS.TRIMMED LocalPulsar",
        ], done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["--version"], 0, f"pulsar-spark {pulsar_spark.__version__}"),
        (["options", "failOnDataLoss"], 0, "failOnDataLoss"),
        (["options", "failOnDataLos", "--json"], 2, "PULSAR_OPTION_UNKNOWN"),
        (["local", "status", "--name", "never-started"], 3, "No local Pulsar is running"),
        (["demo"], 1, "pip install 'pulsar-spark["),
    ],
)
def test_commands_without_pyspark(arguments: list[str], code: int, shown: str) -> None:
    done = python(f"import sys; from pulsar_spark.cli import main; sys.exit(main({arguments!r}))")
    assert done.returncode == code, done.stderr
    assert shown in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_of_names_that_need_spark_is_complete() -> None:
    assert set(pulsar_spark.__all__) <= set(dir(pulsar_spark))
    for name in pulsar_spark.__all__:
        assert getattr(pulsar_spark, name) is not None
