"""The page of errors, by family, from the list of error conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pulsar_spark._tables import ErrorCondition

HEAD = """\
# Errors

<!-- Made from the list of error conditions by tools/generate.py; do not edit. -->

Every error of pulsar-spark begins with its name in brackets and ends with what to do. In the JVM the name is
`SparkThrowable.getCondition`, in Python it is `condition` of the exception; `pulsar_spark.condition_of` finds it in an
exception of Spark, and [`error_of`](troubleshooting.md#failures-of-the-cluster-or-the-data) the whole error. The
SQLSTATE, as Spark's own errors use it, is `SparkThrowable.getSqlState` and `sql_state`.

A family is a class of exceptions in Python. Errors that are found before any task starts say so; all others stop a
query that runs, and lose nothing, except those of the family [data loss](#data-loss)."""
BEFORE = "Found before any task starts. "
FAMILIES = {
    "option": ("Options", "An option or an argument is wrong."),
    "setup": ("Setup", "This Python environment, session or machine cannot use the connector."),
    "topicNotFound": ("Topics", "A topic does not exist, or no topic matches a pattern."),
    "access": ("Access", "The cluster denied a request: authentication or permissions."),
    "unreachable": ("Unreachable", "The cluster or its storage did not respond in time, or no connection is possible."),
    "request": ("Requests", "The cluster or its storage failed a request."),
    "schema": ("Schemas", "The schema of a topic and the columns of a query do not fit, or a schema is not supported."),
    "data": ("Data", "A message or a row cannot be read or written: damaged, encrypted, too large, not of its schema."),
    "dataLoss": (
        "Data loss",
        """\
Messages that a query should read are deleted. [Data loss, what now](data-loss.md) says how to verify it, what skipping
skips, and how to prevent it.""",
    ),
    "checkpoint": ("Checkpoints", "The files with the progress of a stream are not valid, or not of this query."),
    "internal": ("Internal", "A bug in pulsar-spark."),
}
"""Titles and causes, in the order of the page."""


def errors_page(conditions: Mapping[str, ErrorCondition]) -> str:
    """The page ``docs/use/errors.md``."""
    parts = [HEAD]
    for family, (title, cause) in FAMILIES.items():
        parts += [f"## {title}", f"{cause} In Python: `{_error_class(family)}`."]
        for name, condition in sorted(conditions.items()):
            if condition.family == family:
                parts += _described(name, condition)
    return "\n\n".join(parts) + "\n"


def _described(name: str, condition: ErrorCondition) -> Iterator[str]:
    yield f"### {name}"
    yield _sentence(condition.message)
    yield f"*What to do:* {_sentence(condition.action)}"
    more = " [What now?](data-loss.md)" if condition.family == "dataLoss" else ""
    yield f"{BEFORE if condition.kind == 'input' else ''}SQLSTATE: `{condition.sql_state}`.{more}"


def _error_class(family: str) -> str:
    return f"Pulsar{family[0].upper()}{family[1:]}Error"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
