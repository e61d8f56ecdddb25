"""The choice of the server, and the error if there is none."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import versions
from pulsar_spark.testing.addresses import (
    ADMIN_URL,
    OWN_SERVER,
    SERVER,
    URL,
    Addresses,
    Choice,
    NoServerError,
    choose,
    outlives_the_run,
    shared_by,
)
from pulsar_spark.testing.servers import running_server
from support.runs.beside_server import main as beside_server

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers.admin import Admin

GIVEN = {URL: "pulsar://somewhere:6650", ADMIN_URL: "http://somewhere:8080/"}


def test_an_address_overrides_other_choices() -> None:
    expected = Choice("given", Addresses("pulsar://somewhere:6650", "http://somewhere:8080"))
    assert choose(GIVEN) == choose({**GIVEN, SERVER: "container"}) == choose({**GIVEN, SERVER: "local"}) == expected


def test_namespaces_are_deleted_only_on_a_server_that_outlives_the_run() -> None:
    assert outlives_the_run(GIVEN)
    assert outlives_the_run({**GIVEN, OWN_SERVER: "no"})
    assert not outlives_the_run({**GIVEN, OWN_SERVER: "yes"})
    assert not outlives_the_run({})
    assert not outlives_the_run({SERVER: "container"})


def test_a_server_that_several_runs_share_ends_with_them() -> None:
    environment = shared_by(Addresses("pulsar://somewhere:6650", "http://somewhere:8080"))
    assert choose(environment).given == choose(GIVEN).given
    assert not outlives_the_run(environment)


def test_a_command_beside_a_given_server_uses_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIVEN.items():
        monkeypatch.setenv(name, value)
    same = f"import os, sys; sys.exit(3 if os.environ[{URL!r}] == {GIVEN[URL]!r} else 1)"
    assert beside_server(tmp_path / "server", [sys.executable, "-c", same]) == 3
    assert not (tmp_path / "server").exists()


def test_without_any_wish_it_is_a_local_process() -> None:
    assert choose({}) == choose({URL: " ", SERVER: ""}) == choose({SERVER: "local"}) == Choice("local")


def test_a_container_is_used_only_on_request() -> None:
    assert choose({SERVER: "container"}) == Choice("container")


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({URL: "pulsar://somewhere:6650"}, f"{ADMIN_URL} is not"),
        ({SERVER: "cloud"}, f"{SERVER} is 'cloud'"),
    ],
)
def test_a_wrong_wish_is_an_error_with_the_ways_out(environment: dict[str, str], reason: str) -> None:
    with pytest.raises(NoServerError) as error:
        choose(environment)
    assert reason in str(error.value)
    assert_names_every_way(error.value)


def test_no_java_is_a_failure_with_the_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoServerError, match="No local Pulsar: No java") as error, running_server(tmp_path, {}):
        pytest.fail("there must be no server")
    assert_names_every_way(error.value)


def test_no_testcontainers_is_a_failure_with_the_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "testcontainers", None)
    environment = {SERVER: "container"}
    with pytest.raises(NoServerError, match="is not installed") as error, running_server(tmp_path, environment):
        pytest.fail("there must be no server")
    assert_names_every_way(error.value)


def test_a_server_that_does_not_respond_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pulsar_spark.testing.servers._GIVEN_READY_SECONDS", 0.2)
    environment = {URL: "pulsar://127.0.0.1:1", ADMIN_URL: "http://127.0.0.1:1"}
    with pytest.raises(NoServerError, match=r"was not ready within 0\.2 s"), running_server(tmp_path, environment):
        pytest.fail("there must be no server")


def test_the_server_is_the_one_that_was_chosen(admin: Admin) -> None:
    version = str(admin.call("GET", "brokers/version"))
    assert version == (versions.chosen() if choose(os.environ).kind == "local" else version)


def assert_names_every_way(error: NoServerError) -> None:
    for word in ("JDK 17", URL, ADMIN_URL, f"{SERVER}=container", "pip install testcontainers", "never skip"):
        assert word in str(error)
