"""The lines between Spark and the brokers: a proxy before each of them, which it advertises."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from support.proxies.broker_proxy import BrokerProxy
from support.proxies.relay import listening

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTENER = "external"
"""The listener of the brokers whose addresses are those of the lines."""


class Lines:
    """All lines of a run, each of which lives as long as its stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._proxies: list[BrokerProxy] = []

    def add(self, port: int) -> str:
        """Put a line before the broker of this port; returns the address for Spark."""
        listens = self._stack.enter_context(listening())
        proxy = BrokerProxy(f"pulsar://127.0.0.1:{port}", listens, is_advertised=True)
        self._stack.enter_context(proxy.running())
        self._proxies.append(proxy)
        return proxy.service_url

    @property
    def service_url(self) -> str:
        """The addresses of all lines."""
        return "pulsar://" + ",".join(proxy.service_url.removeprefix("pulsar://") for proxy in self._proxies)

    @contextmanager
    def cutting(self, seconds: float) -> Iterator[list[list[int]]]:
        """Cut connections repeatedly at this interval; yields the number of connections of each cut, by line."""
        with ExitStack() as stack:
            yield [stack.enter_context(proxy.cutting(seconds)) for proxy in self._proxies]

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Keep each frame back for so long."""
        self._delay(seconds)
        try:
            yield
        finally:
            self._delay(0.0)

    @contextmanager
    def losing(self, kind: str, *, after: int) -> Iterator[None]:
        """Drop a response of a kind on each line, ``after`` as many have passed; all connections are cut at the end."""
        for proxy in self._proxies:
            proxy.lose(kind, after=after)
        try:
            yield
        finally:
            for proxy in self._proxies:
                proxy.stop_losing()
                proxy.cut()

    @property
    def has_lost(self) -> bool:
        """Whether a response was dropped since `losing` began last."""
        return any(proxy.has_lost for proxy in self._proxies)

    def _delay(self, seconds: float) -> None:
        for proxy in self._proxies:
            proxy.delay_seconds = seconds


def total(cuts: list[list[int]]) -> int:
    """How many connections were cut."""
    return sum(chain.from_iterable(cuts))
