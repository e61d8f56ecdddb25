"""Stand-ins for a session, its readers and its writers, which only take notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Noted:
    """Stands for Spark's readers and writers: every call is written down and answered by the object itself."""

    def __init__(self) -> None:
        self.calls: dict[str, Any] = {}
        self.given: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        def call(*arguments: Any, **named: Any) -> Noted:  # noqa: ANN401
            if name == "options":
                self.given |= named
            elif name == "option":
                self.given[arguments[0]] = arguments[1]
            else:
                self.calls[name] = named or (arguments[0] if arguments else None)
            return self

        return call


class FakeConf:
    """Stands for the settings of a session."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.getAll = settings

    def get(self, name: str, default: str) -> str:
        return self.getAll.get(name, default)


class FakeSpark:
    """Stands for a session and, as far as writes go, for a DataFrame of a batch and for one of a stream."""

    isStreaming = None  # noqa: N815

    def __init__(self, **settings: str) -> None:
        self.conf = FakeConf(settings)
        self.read = self.readStream = self.write = self.writeStream = Noted()

    @property
    def sparkSession(self) -> FakeSpark:  # noqa: N802
        return self

    @property
    def session(self) -> SparkSession:
        return cast("SparkSession", self)

    @property
    def frame(self) -> DataFrame:
        return cast("DataFrame", self)
