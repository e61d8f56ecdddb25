"""Lines that are cut, slow, or lose a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemesis.lines import total

if TYPE_CHECKING:
    from nemesis.arena import Arena

_CUT_SECONDS = 0.7
_REPLIES = ("SEND_RECEIPT", "END_TXN_RESPONSE")


def cut(arena: Arena) -> bool:
    """All connections, again and again."""
    with arena.lines.cutting(_CUT_SECONDS) as cuts:
        arena.pause(1, 4)
    return total(cuts) > 0


def slow_down(arena: Arena) -> bool:
    with arena.lines.slow(arena.chance.uniform(0.02, 0.2)):
        arena.pause(3, 8)
    return True


def lose_reply(arena: Arena) -> bool:
    """A reply to a message or to the end of a transaction is lost with its connection."""
    with arena.lines.losing(arena.chance.choice(_REPLIES), after=arena.chance.randrange(5)):
        arena.pause(3, 6)
    return arena.lines.has_lost
