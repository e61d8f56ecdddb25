"""How the connector is added to a session, without starting one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from pyspark.sql import SparkSession

from pulsar_spark import PulsarSetupError, __version__, _jars, configure, jar_path, maven_coordinate
from pulsar_spark.jvm import DriverJvm

if TYPE_CHECKING:
    from pathlib import Path


SUBMIT = "PYSPARK_SUBMIT_ARGS"


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / f"pulsar-spark-connector_2.13-{__version__}.jar"
    monkeypatch.setattr(_jars, "_packaged_jar", lambda: file)
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", SUBMIT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(DriverJvm, "running", lambda: None)
    file.touch()
    return file


def given(builder: SparkSession.Builder) -> dict[str, str]:
    return dict(builder._options)


def test_the_jar_is_the_one_of_this_version(jar: Path) -> None:
    jar.with_name("pulsar-spark-connector_2.13-0.0.1.jar").touch()
    assert jar_path() == jar
    assert maven_coordinate() == f"io.github.pulsar-spark:pulsar-spark-connector_2.13:{__version__}"


def test_a_missing_jar_names_the_command_that_builds_it(jar: Path) -> None:
    jar.unlink()
    with pytest.raises(PulsarSetupError, match=r"^\[PULSAR_JAR_MISSING\] .*jar does not exist.*`make jar`"):
        configure(SparkSession.builder)
    assert given(configure(SparkSession.builder, jar="maven")) == {"spark.jars.packages": maven_coordinate()}


def test_settings_of_the_user_are_kept(jar: Path) -> None:
    builder = SparkSession.builder.config("spark.jars", "a.jar,b.jar").config("spark.jars.packages", "c:d:1")
    assert given(configure(configure(builder))) == {"spark.jars": f"a.jar,b.jar,{jar}", "spark.jars.packages": "c:d:1"}
    assert given(configure(builder, jar="maven"))["spark.jars.packages"] == f"c:d:1,{maven_coordinate()}"


def test_settings_of_the_defaults_file_are_kept(jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "spark-defaults.conf").write_text("# spark.jars z.jar\nspark.jars.ivy x\nspark.jars   a.jar\n\nlonely\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    assert given(configure(SparkSession.builder)) == {"spark.jars": f"a.jar,{jar}"}
    (folder / "spark-defaults.conf").write_text("spark.jars=b.jar\n")
    assert given(configure(SparkSession.builder)) == {"spark.jars": f"b.jar,{jar}"}


def test_another_jar_can_be_named(jar: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jar"
    with pytest.raises(PulsarSetupError, match=r"PULSAR_JAR_MISSING.*own\.jar\. What to do: If the argument `jar`"):
        configure(SparkSession.builder, jar=own)
    own.touch()
    assert given(configure(SparkSession.builder, jar=own)) == {"spark.jars": f"{tmp_path}/own.jar"}
    assert jar.exists()


@pytest.mark.parametrize(
    ("arguments", "now"),
    [
        ("--jars a.jar pyspark-shell", "--jars a.jar,b.jar,{jar} pyspark-shell"),
        ("--name 'x y' --jars=a.jar pyspark-shell", "--name 'x y' --jars a.jar,b.jar,{jar} pyspark-shell"),
        ("--conf spark.jars=a.jar -c x=y pyspark-shell", "--conf spark.jars=a.jar,b.jar,{jar} -c x=y pyspark-shell"),
        ("--conf=spark.jars=a.jar pyspark-shell", "--conf spark.jars=a.jar,b.jar,{jar} pyspark-shell"),
        (
            "-c spark.jars=z.jar --jars a.jar pyspark-shell",
            "-c spark.jars=a.jar,b.jar,{jar} --jars a.jar,b.jar,{jar} pyspark-shell",
        ),
    ],
)
def test_arguments_of_the_environment_get_the_jar(
    arguments: str, now: str, jar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SUBMIT, arguments.format(jar=jar))
    own = SparkSession.builder.config("spark.jars", f"b.jar,{jar}")  # which the arguments override
    assert given(configure(own)) == {"spark.jars": f"a.jar,b.jar,{jar}"}
    assert os.environ[SUBMIT] == now.format(jar=jar)
    assert given(configure(SparkSession.builder)) == {}
    assert os.environ[SUBMIT] == now.format(jar=jar)


def test_arguments_of_the_environment_without_jars_are_unchanged(jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMIT, "--packages c:d:1 pyspark-shell")
    assert given(configure(SparkSession.builder)) == {"spark.jars": str(jar)}
    assert os.environ[SUBMIT] == "--packages c:d:1 pyspark-shell"
    configure(SparkSession.builder, jar="maven")
    assert os.environ[SUBMIT] == f"--packages c:d:1,{maven_coordinate()} pyspark-shell"


def test_a_connector_in_arguments_of_the_environment_is_the_one_that_runs(
    jar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar.unlink()
    monkeypatch.setenv(SUBMIT, f"--conf spark.jars.packages={maven_coordinate()} pyspark-shell")
    assert given(configure(SparkSession.builder)) == {}


@pytest.mark.parametrize("key", ["spark.jars", "spark.jars.packages"])
def test_a_connector_that_is_named_already_is_the_one_that_runs(key: str, jar: Path) -> None:
    jar.unlink()
    other = f"x,s3a://jars/{jar.name}" if key == "spark.jars" else f"x:y:1,{maven_coordinate()}"
    assert given(configure(SparkSession.builder.config(key, other))) == {key: other}


def test_a_builder_for_spark_connect_is_unchanged(jar: Path) -> None:
    jar.unlink()
    assert given(configure(SparkSession.builder.config("spark.remote", "sc://host"))) == {"spark.remote": "sc://host"}


def _jar_with(path: Path, name: str) -> Path:
    with ZipFile(path, "w") as jar:
        jar.writestr(name, "")
    return path


def test_another_connector_of_the_same_name_is_not_taken_for_this_one(jar: Path, tmp_path: Path) -> None:
    incumbent = "io.streamnative.connectors:pulsar-spark-connector_2.13:4.1.1.0"
    with pytest.warns(UserWarning, match=f"{incumbent} is another connector"):
        builder = configure(SparkSession.builder.config("spark.jars.packages", incumbent))
    assert given(builder) == {"spark.jars.packages": incumbent, "spark.jars": str(jar)}
    other = _jar_with(tmp_path / "pulsar-spark-connector_2.13-4.1.1.0.jar", "org/apache/spark/sql/pulsar/X.class")
    with pytest.warns(UserWarning, match="another connector"):
        builder = configure(SparkSession.builder.config("spark.jars", f"file://{other}"))
    assert given(builder) == {"spark.jars": f"file://{other},{jar}"}


def test_the_connector_is_known_by_its_group_or_its_class(jar: Path, tmp_path: Path) -> None:
    assert jar.exists()
    own = _jar_with(tmp_path / "renamed.jar", "io/github/pulsarspark/PulsarTableProvider.class")
    for key, value in (("spark.jars.packages", maven_coordinate()), ("spark.jars", str(own))):
        assert given(configure(SparkSession.builder.config(key, value))) == {key: value}
