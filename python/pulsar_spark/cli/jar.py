"""Asks the connector's jar for a table of metadata or a repair, in a Java process of its own without Spark.

The question goes to the standard input of the process, so no secret is in a list of processes.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsar_spark._jars import jar_path
from pulsar_spark._tables import error_conditions
from pulsar_spark.cli import class_data
from pulsar_spark.errors import FAMILIES, PulsarImportError, PulsarInternalError, PulsarSparkError
from pulsar_spark.local.java import java_command
from pulsar_spark.local.maven import cache_folder
from pulsar_spark.options.iso import iso_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAIN = "io.github.pulsarspark.inspect.Main"

_MOST_SECONDS = 600.0
_PLACE = "the Java process of the command line"
# One compiler, and a collector without threads: such a process lives for seconds.
_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr")


@dataclass(frozen=True)
class Answer:
    """The rows of a table.

    Attributes:
        columns: The names of the columns.
        types: The types of the columns, as SQL has them.
        rows: Their values, as JSON has them.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def records(self) -> list[dict[str, Any]]:
        """The rows with the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def values(self) -> list[list[object]]:
        """The rows with times as times, and bytes as bytes."""
        return [[_value(kind, value) for kind, value in zip(self.types, row, strict=True)] for row in self.rows]


def ask(view: str, options: Mapping[str, str], columns: Sequence[str] = (), *, limit: int | None = None) -> Answer:
    """The rows of a table of metadata, or messages.

    Args:
        view: The name of the table, as the option ``metadata`` has it; ``messages`` for messages.
        options: Options of the connector by their names in Spark.
        columns: The columns to ask for; all of them if there is none.
        limit: The most messages.

    Raises:
        PulsarSparkError: The jar refuses the question, or the cluster does.
        LocalPulsarError: There is no Java.
    """
    question: dict[str, Any] = {"view": view, "options": dict(options), "columns": list(columns)}
    if limit is not None:
        question["limit"] = limit
    answer = _asked(question, _MOST_SECONDS)
    names, types = (tuple(one[key] for one in answer["columns"]) for key in ("name", "type"))
    return Answer(names, types, tuple(map(tuple, answer["rows"])))


def repair(options: Mapping[str, str], torn: str, epoch: int, *, is_last: bool = False) -> dict[str, Any]:
    """Finish an exactly-once sink, as `pulsar_spark.sinks.repair` does. Each of its requests has a deadline.

    Args:
        options: Options of the write by their names in Spark.
        torn: What is accepted of a torn epoch: ``lost`` or ``repeated``; nothing if it is empty.
        epoch: The number of the torn epoch.
        is_last: True if nothing will write to it any more, as in `pulsar_spark.sinks.finish`.

    Raises:
        PulsarSparkError: The jar refuses the options, or the sink cannot be finished.
        LocalPulsarError: There is no Java.
    """
    return _asked({"repair": {"torn": torn, "epoch": epoch, "last": is_last}, "options": dict(options)}, None)


def _asked(question: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    answer = _answer(_run(json.dumps(question), seconds))
    if error := answer.get("error"):
        raise _raised(error)
    return answer


def _value(kind: str, value: Any) -> object:  # noqa: ANN401 - JSON has no type
    if value is None or kind not in ("TIMESTAMP", "BINARY"):
        return value
    return base64.b64decode(value) if kind == "BINARY" else iso_time(value)


def _run(question: str, seconds: float | None) -> subprocess.CompletedProcess[str]:
    java, jar, spark = java_command(), jar_path(), _spark_jars()
    command = [java, *_QUICK, "-cp", os.pathsep.join([str(jar), f"{spark}/*"]), MAIN]
    archive = class_data.archive_file(cache_folder() / "classes", command, jar, spark)
    known = [f"-XX:SharedArchiveFile={archive}"] if class_data.is_usable(archive) else []
    done = _java([java, *known, *command[1:]], question, seconds)
    class_data.make_later(archive, command)
    return done


def _java(command: Sequence[str], question: str, seconds: float | None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=question, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        what = f"no answer in {error.timeout:.0f} s"
        raise PulsarInternalError("PULSAR_INTERNAL", what=what, where=_PLACE) from None


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one object that the process printed."""
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        told = (done.stderr or done.stdout).strip().splitlines()
        what = told[-1] if told else f"exit code {done.returncode}"
        raise PulsarInternalError("PULSAR_INTERNAL", what=what, where=_PLACE) from None
    return found


def _raised(error: Mapping[str, Any]) -> PulsarSparkError:
    name = error["condition"]
    return FAMILIES[error_conditions()[name].family](name, **error["parameters"])


def _spark_jars() -> Path:
    """The folder with the jars of the installed pyspark, else of ``SPARK_HOME``; pyspark itself is not loaded."""
    spec, home = importlib.util.find_spec("pyspark"), os.environ.get("SPARK_HOME")
    folders = [Path(spec.origin).parent] if spec is not None and spec.origin is not None else []
    folders += [Path(home)] if home else []
    for folder in folders:
        if any((folder / "jars").glob("spark-core_*.jar")):
            return folder / "jars"
    found = f"the Spark in {' and in '.join(map(str, folders))} has no jars" if folders else "there is none"
    raise PulsarImportError("PULSAR_SPARK_VERSION", found=found)
