"""How the connector gets on the class path: beside jars of users, another connector, and sessions of others."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import maven_coordinate
from support.spark.submitting import ADDING_ONE, SMALL, SPARK_JARS, STAND_IN, compiled, python, submit, zipped_package
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pulsar as pulsar_client

OURS = "io.github.pulsarspark.PulsarTableProvider"
THEIRS = "org.apache.spark.sql.pulsar.PulsarProvider"

# Uses the user's function and the connector in tasks.
READ = """
spark.udf.registerJavaFunction("adds_one", "example.AddsOne", "bigint")
rows = pulsar_spark.read_pulsar(spark, {topic!r}).selectExpr("adds_one(bigint(length(value))) AS n")
print("ROWS", *sorted(row.n for row in rows.repartition(2).collect()))
"""
REPORT = """
import pulsar_spark
try:
    {call}
except pulsar_spark.PulsarSetupError as error:
    print(error)
"""
WITHOUT = f"[PULSAR_SESSION_WITHOUT_CONNECTOR] The Spark session of this process does not have the connector on its \
class path. What to do: Add the connector before the JVM starts: `spark-submit --packages {maven_coordinate()}`, "


@pytest.fixture(scope="module")
def user_jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(ADDING_ONE, tmp_path_factory.mktemp("jars") / "user.jar")


@pytest.fixture
def read(client: pulsar_client.Client, topic: str) -> str:
    produce(client, topic, [b"x", b"yy"])
    return READ.format(topic=topic)


def without_package_jar(folder: Path) -> dict[str, str]:
    """An environment whose package has no jar in it."""
    return {"PYTHONPATH": f"{zipped_package(folder / 'bare.zip', None)}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def test_jars_of_spark_submit_and_of_the_package_are_on_driver_and_executors(
    read: str, user_jar: Path, connector_jar: Path, service_url: str, tmp_path: Path
) -> None:
    package = zipped_package(tmp_path / "package.zip", connector_jar)
    program = f"import pulsar_spark\nspark = pulsar_spark.session()\n{read}\nprint(pulsar_spark.__file__)"
    arguments = ["--master", "local-cluster[1,1,1024]", "--py-files", str(package)]
    arguments += ["--jars", f"{user_jar},{tmp_path}/missing.jar"]
    said = submit(program, arguments, tmp_path, PULSAR_SERVICE_URL=service_url)
    rows, place = said.split("\n")[:2]
    assert rows == "ROWS 2 3"
    assert "package.zip" in place


@pytest.mark.exhaustive  # so does the next one; test_sessions keeps the jars of users
def test_a_session_brings_the_connector(
    client: pulsar_client.Client, service_url: str, topic: str, connector_jar: Path, tmp_path: Path
) -> None:
    produce(client, topic, [b"x", b"y"])
    other = tmp_path / "other.jar"
    other.write_bytes(b"PK\x05\x06" + bytes(18))  # a zip file with nothing in it
    program = f"""
        import pulsar_spark
        conf = {{**{SMALL!r}, "spark.jars": {str(other)!r}}}
        spark = pulsar_spark.session("test", "local[1]", jar={str(connector_jar)!r}, **conf)
        print(pulsar_spark.read_pulsar(spark, {topic!r}).count(), spark.conf.get("spark.jars"))
        assert pulsar_spark.session(jar={str(connector_jar)!r}) is spark
        spark.stop()
    """
    answer = python(program, tmp_path, PULSAR_SERVICE_URL=service_url)
    assert answer.split() == ["2", f"{other},{connector_jar}"]


def test_another_source_of_the_same_name_is_reported_and_python_uses_this_one(
    client: pulsar_client.Client, topic: str, connector_jar: Path, service_url: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"x"])
    other = compiled(STAND_IN, tmp_path / "other.jar", data_source=THEIRS)
    program = f"""
        import warnings
        import pulsar_spark
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spark = pulsar_spark.session("test", "local[1]", jar={str(connector_jar)!r}, **{SMALL!r})
            assert pulsar_spark.session() is spark
        print(*(one.message for one in caught if "named `pulsar`" in str(one.message)))
        print(pulsar_spark.read_pulsar(spark, {topic!r}).count())
        options = {{"service.url": {service_url!r}, "topic": {topic!r}}}
        for name in ("pulsar-spark", "PULSAR-SPARK", {OURS!r}):
            assert spark.read.format(name).options(**options).load().count() == 1
        spark.sql("CREATE TABLE t USING `pulsar-spark` OPTIONS (`service.url` {service_url!r}, topic {topic!r})")
        assert spark.table("t").count() == 1
        try:
            spark.read.format("pulsar").options(**options).load()
        except Exception as error:
            print(type(error).__name__, "PULSAR_" in str(error), "infer schema for Parquet" in str(error))
    """
    submitted = {"PYSPARK_SUBMIT_ARGS": f"--jars {other} pyspark-shell", "PULSAR_SERVICE_URL": service_url}
    warning, count, failure = python(program, tmp_path, **submitted).splitlines()
    assert warning == (
        f"Other data sources on the class path are named `pulsar` too: {THEIRS} (file:{other}). "
        f'format("pulsar") runs {THEIRS}. Use format("pulsar-spark") or format("{OURS}") for this connector, '
        "or remove the other jar."
    )
    assert count == "1"
    assert failure.split()[1:] == ["False", "True"]


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("SparkSession.builder.master('local[1]').config(map={small}).getOrCreate()", "session(jar={jar!r})"),
        pytest.param(
            "SparkContext(conf=SparkConf().setMaster('local[1]').setAll({small}.items()))",
            "configure(SparkSession.builder, jar={jar!r})",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            "SparkSession.builder.master('local[1]').config(map={small}).getOrCreate().stop()",
            "session('x', 'local[1]', jar='maven')",
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_a_jvm_that_cannot_get_the_connector_any_more_is_reported(
    before: str, call: str, connector_jar: Path, tmp_path: Path
) -> None:
    started = before.format(small=SMALL)
    called = f"pulsar_spark.{call.format(jar=str(connector_jar))}"
    imports = "from pyspark import SparkConf, SparkContext\nfrom pyspark.sql import SparkSession\n"
    assert python(f"{imports}{started}\n{REPORT.format(call=called)}", tmp_path).startswith(WITHOUT)


@pytest.mark.exhaustive
def test_a_jar_without_the_connector_is_reported(user_jar: Path, tmp_path: Path) -> None:
    call = f"pulsar_spark.session('x', 'local[1]', jar={str(user_jar)!r}, **{SMALL!r})"
    assert python(REPORT.format(call=call), tmp_path).startswith(WITHOUT)


@pytest.mark.exhaustive
def test_a_session_after_another_one_gets_the_connector(
    read: str, user_jar: Path, connector_jar: Path, service_url: str, tmp_path: Path
) -> None:
    """The JVM that runs already gets the jar, again for each session."""
    program = f"""
from pyspark.sql import SparkSession
import pulsar_spark
first = SparkSession.builder.master("local[1]").config(map={SMALL!r}).config("spark.jars", {str(user_jar)!r})
first.getOrCreate().stop()
for _ in range(2):
    spark = pulsar_spark.session("x", "local-cluster[1,1,1024]", jar={str(connector_jar)!r})
{textwrap.indent(read, "    ")}
    spark.stop()
"""
    said = python(program, tmp_path, PULSAR_SERVICE_URL=service_url)
    assert said.splitlines() == ["ROWS 2 3"] * 2


@pytest.mark.exhaustive
def test_a_connector_by_another_file_name_is_accepted(
    read: str, user_jar: Path, connector_jar: Path, service_url: str, tmp_path: Path
) -> None:
    """Neither a setting nor a path names the connector, and the package has no jar of its own."""
    renamed = tmp_path / "library.jar"
    renamed.symlink_to(connector_jar)
    program = f"import pulsar_spark\nspark = pulsar_spark.session()\n{read}"
    arguments = ["--master", "local-cluster[1,1,1024]", "--jars", f"{user_jar},{renamed}"]
    environment = {**without_package_jar(tmp_path), "PULSAR_SERVICE_URL": service_url}
    assert submit(program, arguments, tmp_path, **environment).split("\n")[0] == "ROWS 2 3"


@pytest.mark.exhaustive
def test_a_connector_among_sparks_own_jars_is_accepted(
    read: str, user_jar: Path, connector_jar: Path, service_url: str, tmp_path: Path
) -> None:
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    for file in SPARK_JARS.parent.iterdir():
        if file != SPARK_JARS:
            (home / file.name).symlink_to(file)
    for file in [*SPARK_JARS.iterdir(), connector_jar]:
        (home / "jars" / file.name).symlink_to(file)
    program = f"import pulsar_spark\nspark = pulsar_spark.session()\n{read}"
    environment: Mapping[str, str] = {**without_package_jar(tmp_path), "SPARK_HOME": str(home)}
    arguments = ["--master", "local[1]", "--jars", str(user_jar)]
    assert submit(program, arguments, tmp_path, PULSAR_SERVICE_URL=service_url, **environment).startswith("ROWS 2 3")


@pytest.mark.exhaustive
def test_a_package_without_its_jar_names_the_argument_that_adds_one(tmp_path: Path) -> None:
    said = submit(
        REPORT.format(call="pulsar_spark.session()"),
        ["--master", "local[1]"],
        tmp_path,
        **without_package_jar(tmp_path),
    )
    assert said.startswith("[PULSAR_JAR_MISSING]")
