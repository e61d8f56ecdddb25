"""The order of the tests: long modules first, so that workers end together; on request all in a random order."""

from __future__ import annotations

import os
import random
import time
from itertools import groupby

import pytest

SHUFFLE = "PULSAR_SPARK_TEST_SHUFFLE"

# The end of a run lists the sums of modules. A module that is not listed here follows in the order of the names.
LONGEST = (
    "test_write_faults",
    "test_two_brokers",
    "test_bookie_faults",
    "test_faults",
    "test_read_transactions",
    "test_real_time",
    "test_expiring_tokens",
    "test_local_pulsar",
    "test_backlog_limits",
    "test_killed_drivers",
    "test_tiered",
    "test_message_limits",
    "test_class_path",
    "test_segment_errors",
    "test_exactly_once_faults",
    "test_secrets",
    "test_segments",
    "test_incumbent_readme",
    "test_tls",
    "test_line_faults",
    "test_tiered_errors",
    "test_real_time_state",
    "test_real_time_faults",
    "test_read_offsets",
    "test_chunked_messages",
    "test_docs",
    "test_message_metadata",
    "test_other_cluster",
    "test_inspect_command",
    "test_catalog",
    "test_checkpoint_stores",
    "test_oauth2",
    "test_real_time_backlog",
    "test_cancelled_jobs",
    "test_demo",
    "test_read_compacted",
)


def pytest_configure() -> None:
    """Choose the seed here when there is none: worker processes inherit it, and all of them need the same order."""
    if os.environ.get(SHUFFLE) == "yes":
        os.environ[SHUFFLE] = str(time.time_ns())


def pytest_report_header() -> str | None:
    seed = os.environ.get(SHUFFLE)
    return f"shuffled: {SHUFFLE}={seed}" if seed else None


@pytest.hookimpl(tryfirst=True)  # pytest itself then puts together again what shares a parameter of a module's fixture
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    modules = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    seed = os.environ.get(SHUFFLE)
    if seed:
        dice = random.Random(int(seed))
        dice.shuffle(modules)
        for module in modules:
            dice.shuffle(module)
    else:
        modules.sort(key=lambda module: _rank(module[0].path.stem))
    items[:] = [item for module in modules for item in module]


def _rank(module: str) -> int:
    return LONGEST.index(module) if module in LONGEST else len(LONGEST)
