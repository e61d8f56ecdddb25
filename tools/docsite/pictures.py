"""How much two pictures of a page differ, to an eye: edges of letters do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image, ImageChops

if TYPE_CHECKING:
    from pathlib import Path

#: Pixels on a side of the squares whose mean grey is compared, and the grey that counts as another one, of 255.
SQUARE, THRESHOLD = 12, 24


def difference(expected: Path, taken: Path) -> float:
    """The share of squares that differ, from 0 to 1; 1 if the sizes do by more than a square, or one is missing."""
    if not expected.is_file():
        return 1.0
    with Image.open(expected) as first, Image.open(taken) as second:
        if any(abs(one - other) > SQUARE for one, other in zip(first.size, second.size, strict=True)):
            return 1.0
        width, height = (min(pair) for pair in zip(first.size, second.size, strict=True))
        greys = [each.crop((0, 0, width, height)).convert("L") for each in (first, second)]
        squares = ImageChops.difference(*(grey.reduce(SQUARE) for grey in greys))
        counts = squares.histogram()
    return sum(counts[THRESHOLD:]) / sum(counts)
