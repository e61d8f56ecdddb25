"""Programs of their own: by ``spark-submit`` or in a plain Python, with jars that tests compile."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pyspark

import pulsar_spark
from pulsar_spark.local.java import java_command
from support.runs import spark_jvm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SPARK_JARS = Path(pyspark.__file__).with_name("jars")
SMALL = {
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
}

_SECONDS = 600
_PROGRAMS = Path(sys.executable).parent
_SOURCES = "org.apache.spark.sql.sources.DataSourceRegister"

ADDING_ONE = {
    "example.AddsOne": """
        package example;
        public final class AddsOne implements org.apache.spark.sql.api.java.UDF1<Long, Long> {
          public Long call(Long number) { return number + 1; }
        }
    """
}
"""The class of a user's jar: a function for SQL, which executors need too."""

STAND_IN = {
    "org.apache.spark.sql.pulsar.PulsarProvider": """
        package org.apache.spark.sql.pulsar;
        public final class PulsarProvider extends org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat {
          public String shortName() { return "pulsar"; }
        }
    """
}
"""Stands in for streamnative/pulsar-spark: a data source with its class name and short name, which reads files."""


def python(program: str, folder: Path, **environment: str) -> str:
    """Run a program in a Python of its own; returns its output."""
    return _run([sys.executable, _file(program, folder)], folder, environment)


def submit(program: str, arguments: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Run a program by ``spark-submit``, small; returns its output."""
    everywhere = {**SMALL, "spark.executor.extraJavaOptions": spark_jvm.chosen()}
    settings = [word for key, value in everywhere.items() for word in ("--conf", f"{key}={value}")]
    return _run([_PROGRAMS / "spark-submit", *settings, *arguments, _file(program, folder)], folder, environment)


def compiled(sources: Mapping[str, str], jar: Path, *, data_source: str | None = None) -> Path:
    """Compile classes, by their names, into a jar; one of them may be registered as a data source."""
    folder = jar.with_suffix("")
    for name, text in sources.items():
        file = folder.joinpath("src", *name.split(".")).with_suffix(".java")
        file.parent.mkdir(parents=True)
        file.write_text(textwrap.dedent(text))
        options = ["-proc:none", "-nowarn", "-cp", f"{SPARK_JARS}/*", "-d", str(folder / "out")]
        _run([f"{java_command()}c", *options, file], folder, {})
    with ZipFile(jar, "w") as made:
        for file in sorted((folder / "out").rglob("*.class")):
            made.write(file, file.relative_to(folder / "out"))
        if data_source is not None:
            made.writestr(f"META-INF/services/{_SOURCES}", data_source)
    return jar


def zipped_package(target: Path, jar: Path | None) -> Path:
    """The Python package as ``--py-files`` accepts it, with or without the connector's jar in it."""
    package = Path(pulsar_spark.__file__).parent
    with ZipFile(target, "w") as made:
        for file in sorted(package.rglob("*")):
            if file.is_file() and not {"jars", "__pycache__"} & set(file.relative_to(package).parts):
                made.write(file, file.relative_to(package.parent))
        if jar is not None:
            name = f"pulsar-spark-connector_2.13-{pulsar_spark.__version__}.jar"
            made.write(jar, f"pulsar_spark/jars/{name}")
    return target


def _file(program: str, folder: Path) -> Path:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program))
    return file


def _run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> str:
    environment = {**os.environ, "PATH": f"{_PROGRAMS}:{os.environ['PATH']}", **environment}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
