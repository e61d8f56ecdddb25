"""Random rides of a taxi company, and their expected totals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Ride",
    "fields": [
        {"name": "ride_id", "type": "string"},
        {"name": "city", "type": "string"},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["completed", "cancelled"]}},
        {"name": "km", "type": "double"},
        {"name": "fare", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
        {"name": "rating", "type": ["null", "int"], "default": None},
        {"name": "pickup", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}

# City, share of the rides, price of a kilometre in cents.
_CITIES = (
    ("Berlin", 24, 210),
    ("Paris", 22, 240),
    ("Madrid", 16, 150),
    ("Rome", 13, 160),
    ("Vienna", 10, 190),
    ("Warsaw", 8, 95),
    ("Lisbon", 7, 110),
)
_SHARES = list(accumulate(share for _, share, _ in _CITIES))
_APPS = ("ios", "android", "android", "web")
_DRIVERS_PER_CITY = 400
_CANCELLED = 0.07
_RATED = 0.6
_BASE_FARE = 350


@dataclass(frozen=True, slots=True)
class Ride:
    """One ride, the value of a message.

    Attributes:
        value: The record.
        driver: The message's key.
        pickup_ms: Its event time.
        app: The property of that name.
        cents: The fare, 0 of a cancelled ride.
    """

    value: dict[str, Any]
    driver: str
    pickup_ms: int
    app: str
    cents: int


@dataclass
class Totals:
    """Totals of the rides that were sent, counted without Spark."""

    rides: Counter[str] = field(default_factory=Counter)
    cancelled: Counter[str] = field(default_factory=Counter)
    cents: Counter[str] = field(default_factory=Counter)
    ios: Counter[str] = field(default_factory=Counter)

    def add(self, ride: Ride) -> None:
        """Count one more ride."""
        city = ride.value["city"]
        self.rides[city] += 1
        self.cents[city] += ride.cents
        self.cancelled[city] += ride.value["status"] == "cancelled"
        self.ios[city] += ride.app == "ios"

    @property
    def completed(self) -> int:
        """Number of rides that took place."""
        return self.rides.total() - self.cancelled.total()


def make_ride(chance: random.Random, number: int, pickup_ms: int) -> Ride:
    """Create a random ride."""
    city, _, price = chance.choices(_CITIES, cum_weights=_SHARES)[0]
    km = round(chance.lognormvariate(1.6, 0.6), 1)
    cancelled = chance.random() < _CANCELLED
    cents = 0 if cancelled else _BASE_FARE + int(km * price)
    value = {
        "ride_id": f"{city[:3].upper()}-{number:08}",
        "city": city,
        "status": "cancelled" if cancelled else "completed",
        "km": km,
        "fare": Decimal(cents).scaleb(-2),
        "rating": chance.randint(2, 5) if not cancelled and chance.random() < _RATED else None,
        "pickup": pickup_ms,
    }
    driver = f"{city.lower()}-{chance.randrange(_DRIVERS_PER_CITY):03}"
    return Ride(value, driver, pickup_ms, chance.choice(_APPS), cents)


def make_rides(chance: random.Random, count: int, *, first_ms: int, last_ms: int) -> Iterator[Ride]:
    """Create ``count`` random rides with pickups spread evenly over a span of time."""
    for number in range(count):
        yield make_ride(chance, number, first_ms + (last_ms - first_ms) * number // count)
