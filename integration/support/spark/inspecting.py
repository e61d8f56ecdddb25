"""The main class that the command line starts, called in the JVM of the session: it answers without a start of Java."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main_class(spark: SparkSession, question: str) -> tuple[str, int]:
    """Ask a question; returns the text of the answer and the exit code."""
    jvm: Any = spark._jvm  # py4j objects have no type
    main = getattr(getattr(jvm.io.github.pulsarspark.inspect, "Main$"), "MODULE$")
    out = jvm.java.io.ByteArrayOutputStream()
    code = main.run(jvm.java.io.ByteArrayInputStream(question.encode()), jvm.java.io.PrintStream(out))
    return bytes(out.toByteArray()).decode(), int(code)


def asked(spark: SparkSession, view: str, options: dict[str, str], code: int = 0, **more: object) -> dict[str, Any]:
    """Ask for a table, or for messages."""
    text, ended = main_class(spark, json.dumps({"view": view, "options": options, **more}))
    assert ended == code, text
    answer: dict[str, Any] = json.loads(text)
    return answer
