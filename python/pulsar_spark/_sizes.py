"""Numbers as people read them."""

from __future__ import annotations

_KIBIBYTE = 1024


def in_bytes(number: int) -> str:
    """A number of bytes, such as ``5.0 MiB``."""
    size, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= _KIBIBYTE and len(units) > 1:
        size, units = size / _KIBIBYTE, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"
