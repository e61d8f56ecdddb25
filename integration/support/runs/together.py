"""Modules that share servers of their own run in one worker process, as if they were one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

# Each starts its servers once for the process, which ends them.
TOGETHER = (
    ("test_other_cluster", "test_left_out", "test_fail_over", "test_replicated"),
    ("test_message_limits", "test_backlog_limits"),
    ("test_oauth2", "test_permissions", "test_roles", "test_catalog_roles"),
)


def piece_of_work(file: str) -> str:
    """What a worker takes as a whole: a file, or all those that share servers."""
    name = Path(file).stem
    return next((" and ".join(group) for group in TOGETHER if name in group), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """What ``--dist loadfile`` uses, for files that belong together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    scheduling = LoadFileScheduling(config, log)
    scheduling._split_scope = lambda nodeid: piece_of_work(nodeid.split("::", 1)[0])
    return scheduling
