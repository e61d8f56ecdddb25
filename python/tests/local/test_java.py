"""Which Java a server runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import JAVA_17, fake_java

from pulsar_spark.local.errors import ServerUnavailableError
from pulsar_spark.local.java import Java

if TYPE_CHECKING:
    from pathlib import Path


def test_the_version_of_java_is_parsed(tmp_path: Path) -> None:
    command = fake_java(tmp_path, JAVA_17)
    assert Java.find(command) == Java(command, 17, "Somebody 17.0.15+6")


@pytest.mark.parametrize("version", ["1.8", "11"])
def test_an_old_java_is_rejected(tmp_path: Path, version: str) -> None:
    with pytest.raises(ServerUnavailableError, match=rf"is Java {version}, .* needs 17 or newer. Install a JDK 17"):
        Java.find(fake_java(tmp_path, JAVA_17.replace("= 17", f"= {version}")))
