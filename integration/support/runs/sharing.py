"""Worker processes (``pytest -n``) share one server, which the process that controls them starts."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.servers.servers import NoServerError, choose, running_server, shared_by

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG, LOG_NAME = "PULSAR_SPARK_TEST_SERVER_LOG", "pulsar.log"
"""The variable with the log of a server that several runs share, and the name of a log."""

_server = ExitStack()


def log_file(config: pytest.Config) -> Path:
    """The log of the shared server; it does not exist when the server was not started here."""
    return Path(os.environ.get(LOG) or _folder(config) / LOG_NAME)


def _folder(config: pytest.Config) -> Path:
    return config._tmp_path_factory.getbasetemp() / "pulsar"  # type: ignore[attr-defined,no-any-return]


def pytest_configure(config: pytest.Config) -> None:
    """Let workers take modules in the order in which they are collected, not by the number of their tests."""
    if config.pluginmanager.has_plugin("xdist"):
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)  # workers are started by the same hook and inherit the environment
def pytest_sessionstart(session: pytest.Session) -> None:
    if getattr(session.config.option, "dist", "no") == "no":
        return
    folder = _folder(session.config)
    try:
        if choose(os.environ).kind == "given":
            return
        folder.mkdir()
        addresses = _server.enter_context(running_server(folder))
    except NoServerError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    os.environ.update(shared_by(addresses))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish() -> Iterator[None]:
    """Stop the server after the workers."""
    try:
        yield
    finally:
        _server.close()
