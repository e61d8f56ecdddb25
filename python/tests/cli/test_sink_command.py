"""``pulsar-spark sink`` without a cluster."""

from __future__ import annotations

import json
import socket

import pytest

from pulsar_spark import cli


def _closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_cluster_that_does_not_answer_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{_closed_port()}"
    assert cli.main(["sink", "status", "trips", "--admin-url", url]) == 1
    assert f"error: The admin service at {url} cannot be reached" in capsys.readouterr().err
    assert cli.main(["sink", "status", "trips", "--admin-url", url, "--json"]) == 1
    assert "cannot be reached" in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize("name", ["", "a/b", "x" * 101])
def test_names_that_no_sink_has_are_wrong_usage(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["sink", "status", name])
    assert ended.value.code == 2
    assert "is not the id of a sink" in capsys.readouterr().err
