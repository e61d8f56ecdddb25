"""Pulsar's binary protocol as far as tests look into it: frames, the kind of a command, and who it is about.

A frame is its size, the size of its command, the command, and for messages a payload. A command is the protobuf message
``BaseCommand``: field 1 is its type, one other field holds what belongs to that type.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

# BaseCommand.Type, by its numbers.
KINDS = {
    2: "CONNECT", 3: "CONNECTED", 4: "SUBSCRIBE", 5: "PRODUCER", 6: "SEND", 7: "SEND_RECEIPT", 8: "SEND_ERROR",
    9: "MESSAGE", 10: "ACK", 11: "FLOW", 12: "UNSUBSCRIBE", 13: "SUCCESS", 14: "ERROR", 15: "CLOSE_PRODUCER",
    16: "CLOSE_CONSUMER", 17: "PRODUCER_SUCCESS", 18: "PING", 19: "PONG", 20: "REDELIVER_UNACKNOWLEDGED_MESSAGES",
    21: "PARTITIONED_METADATA", 22: "PARTITIONED_METADATA_RESPONSE", 23: "LOOKUP", 24: "LOOKUP_RESPONSE",
    25: "CONSUMER_STATS", 26: "CONSUMER_STATS_RESPONSE", 27: "REACHED_END_OF_TOPIC", 28: "SEEK",
    29: "GET_LAST_MESSAGE_ID", 30: "GET_LAST_MESSAGE_ID_RESPONSE", 31: "ACTIVE_CONSUMER_CHANGE",
    32: "GET_TOPICS_OF_NAMESPACE", 33: "GET_TOPICS_OF_NAMESPACE_RESPONSE", 34: "GET_SCHEMA", 35: "GET_SCHEMA_RESPONSE",
    36: "AUTH_CHALLENGE", 37: "AUTH_RESPONSE", 38: "ACK_RESPONSE", 39: "GET_OR_CREATE_SCHEMA",
    40: "GET_OR_CREATE_SCHEMA_RESPONSE", 50: "NEW_TXN", 51: "NEW_TXN_RESPONSE", 52: "ADD_PARTITION_TO_TXN",
    53: "ADD_PARTITION_TO_TXN_RESPONSE", 54: "ADD_SUBSCRIPTION_TO_TXN", 55: "ADD_SUBSCRIPTION_TO_TXN_RESPONSE",
    56: "END_TXN", 57: "END_TXN_RESPONSE", 58: "END_TXN_ON_PARTITION", 59: "END_TXN_ON_PARTITION_RESPONSE",
    60: "END_TXN_ON_SUBSCRIPTION", 61: "END_TXN_ON_SUBSCRIPTION_RESPONSE", 62: "TC_CLIENT_CONNECT_REQUEST",
    63: "TC_CLIENT_CONNECT_RESPONSE", 64: "WATCH_TOPIC_LIST", 65: "WATCH_TOPIC_LIST_SUCCESS", 66: "WATCH_TOPIC_UPDATE",
    67: "WATCH_TOPIC_LIST_CLOSE", 68: "TOPIC_MIGRATED",
}  # fmt: skip

# Commands that begin with the id of a consumer or a producer.
OF_CONSUMERS = frozenset(
    ("MESSAGE", "ACK", "FLOW", "UNSUBSCRIBE", "CLOSE_CONSUMER", "REDELIVER_UNACKNOWLEDGED_MESSAGES", "SEEK",
     "GET_LAST_MESSAGE_ID", "REACHED_END_OF_TOPIC", "ACTIVE_CONSUMER_CHANGE")
)  # fmt: skip
OF_PRODUCERS = frozenset(("SEND", "SEND_RECEIPT", "SEND_ERROR", "CLOSE_PRODUCER"))

_SIZE = struct.Struct(">I")
_TYPE, _VARINT, _FIXED64, _BYTES, _FIXED32 = 1, 0, 1, 2, 5
_SUBSCRIPTION, _CONSUMER, _PRODUCER, _FIRST, _BROKER_URL = 2, 4, 2, 1, 1
_THROUGH_SERVICE_URL = 8
_ROLES = {"driver": "driver", "watch": "driver", "task": "task"}
_ROLE = re.compile(rf".*-({'|'.join(_ROLES)})-[0-9a-f-]{{36}}")


@dataclass(frozen=True)
class Field:
    """A field of a protobuf message: its number, its value, and all its bytes."""

    number: int
    value: int | bytes
    encoded: bytes


def fields(message: bytes) -> Iterator[Field]:
    """Take a protobuf message apart."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = _varint(message, at)
        number, form = tag >> 3, tag & 7
        value: int | bytes
        if form == _VARINT:
            value, at = _varint(message, at)
        elif form in (_FIXED64, _BYTES, _FIXED32):
            size, at = _varint(message, at) if form == _BYTES else (8 if form == _FIXED64 else 4, at)
            value, at = message[at : at + size], at + size
        else:
            raise ValueError(f"field {number} has wire type {form}")
        if at > len(message):
            raise ValueError(f"field {number} ends behind its message")
        yield Field(number, value, message[begin:at])


@dataclass(frozen=True)
class Command:
    """A command: its kind, and the message that belongs to it."""

    kind: str
    body: bytes

    @classmethod
    def of(cls, frame: bytes) -> Command:
        """Parse the command of a frame without its size field."""
        (size,) = _SIZE.unpack_from(frame)
        kind, body = "", b""
        for field in fields(frame[_SIZE.size : _SIZE.size + size]):
            if field.number == _TYPE:
                kind = KINDS.get(int(field.value), f"TYPE_{field.value!r}")
            elif isinstance(field.value, bytes):
                body = field.value
        if not kind:
            raise ValueError("a command without a type")
        return cls(kind, body)

    @property
    def consumer(self) -> int:
        """The consumer id of the command."""
        return self._number(_CONSUMER if self.kind == "SUBSCRIBE" else _FIRST)

    @property
    def producer(self) -> int:
        """The producer id of the command."""
        return self._number(_PRODUCER if self.kind == "PRODUCER" else _FIRST)

    @property
    def role(self) -> str:
        """Who subscribes, by the name of the subscription: ``driver`` (its watches, too), ``task``, else ``other``."""
        name = next(field.value for field in fields(self.body) if field.number == _SUBSCRIPTION)
        assert isinstance(name, bytes)
        match = _ROLE.fullmatch(name.decode())
        return _ROLES[match[1]] if match else "other"

    def _number(self, number: int) -> int:
        return next(int(field.value) for field in fields(self.body) if field.number == number)


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame without its size; None when the stream ends, also in the middle of a frame."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    (size,) = _SIZE.unpack(head)
    frame = stream.read(size)
    return frame if len(frame) == size else None


def with_size(frame: bytes) -> bytes:
    """The frame as it is sent."""
    return _SIZE.pack(len(frame)) + frame


def with_broker_url(answer: bytes, url: str, *, direct: bool = False) -> bytes:
    """The frame of a LOOKUP_RESPONSE, naming another broker if it names one.

    A standalone server says that its broker is reached through the address that clients have already; with ``direct``
    it does not.
    """
    (size,) = _SIZE.unpack_from(answer)
    command = answer[_SIZE.size : _SIZE.size + size]
    left_out = _THROUGH_SERVICE_URL if direct else -1
    parts = [
        _renamed(field, url, left_out) if isinstance(field.value, bytes) else field.encoded for field in fields(command)
    ]
    changed = b"".join(parts)
    return _SIZE.pack(len(changed)) + changed + answer[_SIZE.size + size :]


def _renamed(body: Field, url: str, left_out: int) -> bytes:
    assert isinstance(body.value, bytes)
    parts = [
        _encoded(_BROKER_URL, url.encode()) if field.number == _BROKER_URL else field.encoded
        for field in fields(body.value)
        if field.number != left_out
    ]
    return _encoded(body.number, b"".join(parts))


def _encoded(number: int, value: bytes) -> bytes:
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(value)) + value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("a number ends behind its message")
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _as_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
