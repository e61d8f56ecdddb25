"""A server whose ledgers are short."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from servers import Addresses

from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """A server that begins a ledger after a few entries."""
    limits = {"managedLedgerMaxEntriesPerLedger": "50", "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("limits"), transactions=True, config=limits) as server:
        yield Addresses(server.service_url, server.admin_url)
