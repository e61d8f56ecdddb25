"""``pulsar-spark options``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pulsar_spark import cli
from pulsar_spark._tables import option_table


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["options", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", ["20", "80", "300"])
def test_the_list_has_every_option_in_line(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = answer(capsys).splitlines()
    starts = set()
    for option in option_table().options:
        (line,) = [line for line in lines if line.startswith(f"  {option.key} ")]
        starts.add(len(line) - len(line.lstrip(" ").removeprefix(option.key).lstrip(" ")))
    assert len(starts) == 1
    assert any(line.startswith("  pulsar.client.*") for line in lines)
    assert max(map(len, lines)) <= max(80, min(int(columns), 120))


@pytest.mark.parametrize("name", ["failOnDataLoss", "failondataloss", "fail_on_data_loss"])
def test_one_option_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, name)
    assert text.startswith("failOnDataLoss\n  Fail when messages")
    assert "\n  in Python  fail_on_data_loss\n" in text
    assert "\n  default    true\n" in text


def test_settings_of_the_client_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "pulsar.client.numiothreads").startswith("pulsar.client.numIoThreads\n")


def test_settings_of_the_admin_service_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(answer(capsys, "PULSAR.ADMIN.numiothreads").split())
    assert text.startswith("pulsar.admin.numIoThreads An option of streamnative/pulsar-spark.")
    assert "set `pulsar.client.numIoThreads`." in text
    assert "set `tls.trustCertsFile`." in " ".join(answer(capsys, "pulsar.admin.tlsTrustCertsFilePath").split())
    assert json.loads(answer(capsys, "pulsar.admin.numIoThreads", "--json"))["key"] == "pulsar.admin.numIoThreads"


def test_names_of_streamnative_pulsar_spark_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys).splitlines()
    for alias in option_table().aliases.values():
        assert any(line.startswith(f"  {alias.name} ") for line in lines), alias.name
    text = answer(capsys, "ALLOWDIFFERENTTOPICSCHEMAS")
    assert text.startswith("allowDifferentTopicSchemas\n  An option of streamnative/pulsar-spark.")
    assert "\n  here       sets schemaMode\n" in text
    assert json.loads(answer(capsys, "pulsar.client.useTls", "--json"))["rule"] == "tlsOfServiceUrl"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("failOnDataLos", "failOnDataLoss"),
        ("pulsar.admin.numIoThread", "pulsar.admin.numIoThreads"),
        ("fail_on_data_los", "fail_on_data_loss"),
        ("pulsar.client.numIoThread", "pulsar.client.numIoThreads"),
    ],
)
def test_a_misspelt_name_is_reported_with_the_nearest(
    name: str, nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["options", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        f"error: [PULSAR_OPTION_UNKNOWN] There is no option `{name}`; the nearest name is `{nearest}`"
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    options = json.loads(answer(capsys, "--json"))["options"]
    assert [option["key"] for option in options] == [option.key for option in option_table().options]
    one = json.loads(answer(capsys, "schema_type", "--json"))
    assert (one["key"], one["argument"], one["default"]) == ("schemaType", "schema_type", "auto")
    assert "json" in one["values"]


def test_the_command_needs_no_pyspark() -> None:
    program = "import sys; sys.modules['pyspark'] = None; from pulsar_spark import cli; sys.exit(cli.main(['options']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def explanation(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_options_arguments_and_errors_are_explained_by_one_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert explanation(capsys, "failOnDataLoss") == answer(capsys, "failOnDataLoss")
    text = explanation(capsys, "start")
    assert "startingOffsets\n" in text
    assert "startingTime\n" in text
    text = " ".join(explanation(capsys, "[PULSAR_TLS_FAILED.HOST_NAME]").split())
    assert text.startswith("PULSAR_TLS_FAILED.HOST_NAME {what} failed: no trusted connection")
    assert "What to do: Set service.url" in text
    assert "in Python PulsarUnreachableError" in text
    found = json.loads(explanation(capsys, "PULSAR_DATA_LOSS", "--json"))["conditions"]
    assert {one["class"] for one in found} == {"PulsarDataLossError"}
    assert len(found) > 3


def test_a_name_that_nothing_has_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, nearest in (
        ("PULSAR_TOPIC_NAM", "PULSAR_TOPIC_NAME"),
        ("predefinedSubscripton", "predefinedSubscription"),
    ):
        assert cli.main(["explain", wrong]) == 2
        assert f"the nearest name is `{nearest}`" in capsys.readouterr().err
