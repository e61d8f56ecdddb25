"""A topic and its copy, of one test alone."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from exactlyonce.copies import TASKS, Copy

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client

    from support.servers.admin import Admin


@pytest.fixture
def copy(client: pulsar_client.Client, admin: Admin, service_url: str, topic: str, tmp_path: Path) -> Copy:
    admin.create_topic(topic, partitions=TASKS)
    admin.create_topic(f"{topic}-copy")
    return Copy(client, topic, f"{topic}-copy", uuid.uuid4().hex, service_url, tmp_path / "checkpoint")
