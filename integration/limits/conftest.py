"""A server whose ledgers are short."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from limits.limited import SHORT_LEDGERS

from support.servers.servers import Addresses, own_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with own_server(tmp_path_factory.mktemp("limits"), SHORT_LEDGERS) as addresses:
        yield addresses
