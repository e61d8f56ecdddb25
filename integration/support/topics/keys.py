"""Keys for encrypted messages."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def key_pair(folder: Path, name: str) -> tuple[Path, Path]:
    """The files of a new private and public key, in the form that all clients read."""
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    for arguments in (
        ["genrsa", "-traditional", "-out", str(private), "2048"],
        ["rsa", "-in", str(private), "-pubout", "-out", str(public)],
    ):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=300)
    return private, public
