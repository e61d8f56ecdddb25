"""Rows of a metadata table as objects, which terminals and notebooks show as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

from pulsar_spark._grid import Grid, grid
from pulsar_spark._spark import DataFrame
from pulsar_spark._tables import name_in_python

Row = TypeVar("Row")

_SHOWN = 60  # a listing that is shown has so many rows


class Listing(Sequence[Row], Generic[Row]):
    """The rows of a metadata table at one moment.

    It is a sequence of frozen dataclasses. ``print``, terminals and notebooks show it as a table.

    Examples:
        >>> pulsar.partitions("rides")
        topic                 first  last    entries    bytes
        --------------------  -----  ------  -------  -------
        public/default/rides  7:0    7:1233    1,234  5.0 MiB
    """

    def __init__(self, kind: type[Row], df: DataFrame) -> None:
        """Read the table.

        Args:
            kind: The dataclass of a row, whose fields have the names of columns in Python.
            df: The table.
        """
        described: Any = kind
        self._spark, self._schema, self._collected = df.sparkSession, df.schema, df.collect()
        self._names = [one.name for one in fields(described)]
        places = {name_in_python(column): place for place, column in enumerate(df.columns)}
        self._rows = tuple(kind(**{name: _value(row[places[name]]) for name in self._names}) for row in self._collected)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self._rows[index]

    def __eq__(self, other: object) -> bool:
        return self._rows == (other._rows if isinstance(other, Listing) else other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_df(self) -> DataFrame:
        """The rows as a DataFrame.

        Returns:
            A DataFrame with the columns of the metadata table.
        """
        return self._spark.createDataFrame(self._collected, self._schema)

    def _table(self) -> tuple[Grid, list[str]]:
        """The rows to show, and a line that counts the others."""
        hidden = len(self) - _SHOWN
        rows = [[getattr(row, name) for name in self._names] for row in self._rows[:_SHOWN]]
        return grid(self._names, rows), [f"... and {hidden:,} more"] if hidden > 0 else []

    def __repr__(self) -> str:
        table, more = self._table()
        return "\n".join([*table.lines(), *more] or ["nothing"])

    def _repr_html_(self) -> str:
        table, more = self._table()
        return "\n".join([*table.html(), *(f"<div>{line}</div>" for line in more)] or ["nothing"])


def _value(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
