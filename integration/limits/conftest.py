"""A server whose ledgers are short."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from limits.limited import SHORT_LEDGERS
from servers import Addresses

from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("limits"), transactions=True, config=SHORT_LEDGERS) as server:
        yield Addresses(server.service_url, server.admin_url)
