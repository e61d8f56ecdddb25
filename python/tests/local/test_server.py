"""The configuration and the command line of a standalone server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local.java import Java
from pulsar_spark.local.server import Launch, Ports
from pulsar_spark.local.settings import SMALL

if TYPE_CHECKING:
    from pathlib import Path

PORTS = Ports(broker=20001, web=20002, bookie=20003)


def launch(folder: Path, **config: str) -> Launch:
    return Launch(folder, PORTS, SMALL, config)


def settings(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def test_the_configuration_holds_ports_and_keeps_everything(tmp_path: Path) -> None:
    found = settings(launch(tmp_path).config_text())
    assert found["brokerServicePort"] == "20001"
    assert found["webServicePort"] == "20002"
    assert found["bindAddress"] == found["advertisedAddress"] == "127.0.0.1"
    assert found["listeningInterface"] in ("lo", "lo0")
    assert found["defaultRetentionTimeInMinutes"] == found["defaultRetentionSizeInMB"] == "-1"
    assert found["brokerDeleteInactiveTopicsEnabled"] == found["backlogQuotaCheckEnabled"] == "false"
    assert found["allowAutoTopicCreation"] == "true"


def test_settings_of_the_user_override_all_others(tmp_path: Path) -> None:
    found = settings(launch(tmp_path, managedLedgerCacheSizeMB="7", brokerServicePort="1", own="a=b").config_text())
    assert (found["managedLedgerCacheSizeMB"], found["brokerServicePort"], found["own"]) == ("7", "1", "a=b")


def test_backslashes_are_escaped_in_the_configuration(tmp_path: Path) -> None:
    assert "own=a\\\\b\n" in launch(tmp_path, own="a\\b").config_text()


@pytest.mark.parametrize(("key", "value"), [("two words", "x"), ("a=b", "x"), ("", "x"), ("key", "x\ninjected=1")])
def test_a_malformed_setting_is_rejected(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        Launch(tmp_path, PORTS, SMALL, {key: value}).config_text()


def test_the_command_line_names_every_jar_in_a_stable_order(tmp_path: Path) -> None:
    folder, jars = tmp_path / 'a "strange" folder', tmp_path / "lib"
    folder.mkdir()
    jars.mkdir()
    for name in ("b.jar", "a.jar", "c.txt"):
        (jars / name).touch()
    java = Java("/opt/java", 17, "any")
    assert launch(folder).command(java, jars, class_data=("-Xfirst",)) == ["/opt/java", f"@{folder / 'java.args'}"]
    lines = (folder / "java.args").read_text().splitlines()
    assert f'"{jars / "a.jar"}:{jars / "b.jar"}"' in lines
    assert '"-Xfirst"' in lines
    assert '"-Xmx256m"' in lines
    assert lines[lines.index('"--bookkeeper-port"') + 1] == '"20003"'
    assert any(line.endswith('a \\"strange\\" folder/metadata"') for line in lines)
    assert not any("sun-misc-unsafe" in line for line in lines)


def test_a_newer_java_starts_without_warnings_about_unsafe_memory(tmp_path: Path) -> None:
    launch(tmp_path).command(Java("java", 25, "any"), tmp_path, class_data=())
    assert '"--sun-misc-unsafe-memory-access=allow"' in (tmp_path / "java.args").read_text().splitlines()
