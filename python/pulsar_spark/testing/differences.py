"""The difference between expected and found messages, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Values = Mapping[str, Any]

_SHOWN = 10


def as_values(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a value of any type
    """The columns of a message with plain values: dicts in place of rows, bytes in place of byte arrays."""
    if hasattr(message, "asDict"):
        message = message.asDict(recursive=True)
    if not isinstance(message, dict):
        message = {"value": message}
    return {name: _plain(value) for name, value in message.items()}


def difference(topic: str, expected: Sequence[Values], found: Sequence[Values], *, in_order: bool) -> str:
    """Describe how messages differ from the expected ones; empty if they do not.

    Args:
        topic: The name of the topic.
        expected: The columns and values of each message. A column that one leaves out is null.
        found: The same, as read.
        in_order: If True, the order counts.
    """
    names = list(dict.fromkeys(name for one in expected for name in one))
    wanted = [{name: one.get(name) for name in names} for one in expected] if names else []
    texts = {name for one in wanted for name, value in one.items() if isinstance(value, str)}
    seen = [{name: _text(value) if name in texts else value for name, value in one.items()} for one in found]
    if seen == wanted:
        return ""
    missing, others = _without(wanted, seen), _without(seen, wanted)
    if not missing and not others:
        return _order(topic, wanted, seen) if in_order else ""
    lines = [f"{topic} has {_counted(len(seen))}, but {len(wanted)} were expected."]
    lines += _listed("missing", missing) + _listed("not expected", others)
    return "\n".join(lines)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def _text(value: Any) -> Any:  # noqa: ANN401
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


def _without(some: Sequence[Values], others: Sequence[Values]) -> list[Values]:
    """The messages of the first that are not in the second, as often as they are missing there."""
    left = list(others)
    rest = []
    for one in some:
        try:
            left.remove(one)
        except ValueError:
            rest.append(one)
    return rest


def _order(topic: str, wanted: Sequence[Values], seen: Sequence[Values]) -> str:
    at = next(number for number, (one, other) in enumerate(zip(wanted, seen, strict=True)) if one != other)
    return f"{topic} has another order: message {at + 1} is {_shown(seen[at])}, but {_shown(wanted[at])} was expected."


def _listed(title: str, messages: Sequence[Values]) -> list[str]:
    more = [f"  and {len(messages) - _SHOWN} more"] if len(messages) > _SHOWN else []
    return [f"  {title}: {_shown(one)}" for one in messages[:_SHOWN]] + more


def _shown(message: Values) -> str:
    return repr(message["value"]) if list(message) == ["value"] else repr(dict(message))


def _counted(number: int) -> str:
    return f"{number} message" if number == 1 else f"{number} messages"
