"""Worker processes (``pytest -n``) share one server, which the process that controls them starts."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from support.servers.servers import ADMIN_URL, OWN_SERVER, URL, NoServerError, choose, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_server = ExitStack()


def log_file(config: pytest.Config) -> Path:
    """The log of the shared server; it does not exist when the server was not started here."""
    return _folder(config) / "pulsar.log"


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
    folder.mkdir()
    try:
        own = "no" if choose(os.environ).kind == "given" else "yes"
        addresses = _server.enter_context(running_server(folder))
    except NoServerError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    os.environ.update({URL: addresses.service_url, ADMIN_URL: addresses.admin_url, OWN_SERVER: own})


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish() -> Iterator[None]:
    """Stop the server after the workers."""
    try:
        yield
    finally:
        _server.close()
