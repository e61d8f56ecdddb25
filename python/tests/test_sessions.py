"""How the connector is added to a session, without starting one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from pulsar_spark import PulsarSetupError, __version__, configure, jar_path, maven_coordinate, sessions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sessions, "_JARS", tmp_path)
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / f"pulsar-spark-connector_2.13-{__version__}.jar"
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
    assert given(configure(SparkSession.builder, jar=tmp_path / "own.jar")) == {"spark.jars": f"{tmp_path}/own.jar"}
    assert jar.exists()


def test_a_builder_for_spark_connect_is_unchanged(jar: Path) -> None:
    jar.unlink()
    assert given(configure(SparkSession.builder.config("spark.remote", "sc://host"))) == {"spark.remote": "sc://host"}


@pytest.mark.parametrize("version", ["3.5.6", "4.4.0", "5.0.0.dev0"])
def test_other_versions_of_spark_are_rejected(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    with pytest.raises(PulsarSetupError) as raised:
        configure(SparkSession.builder, jar="maven")
    assert str(raised.value) == (
        f"[PULSAR_SPARK_VERSION] pulsar-spark needs pyspark 4.0, 4.1, 4.2 or 4.3, but this is {version}. "
        "What to do: Run: pip install 'pyspark>=4.0,<4.4'."
    )


@pytest.mark.parametrize("version", ["4.0.0", "4.1.4", "4.2.1.dev1", "4.3.0"])
def test_supported_versions(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    configure(SparkSession.builder, jar="maven")
