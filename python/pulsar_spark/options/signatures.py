"""The signatures and docstrings that notebooks and `help` show, from the option table."""

from __future__ import annotations

import inspect
import textwrap
import typing
from typing import TYPE_CHECKING, Any, TypeVar

from pulsar_spark.options.fields import arguments as arguments_of_the_table

if TYPE_CHECKING:
    from collections.abc import Callable

_MORE = "more"
_WIDTH = 120

Function = TypeVar("Function", bound="Callable[..., Any]")


def lists_arguments(arguments: type) -> Callable[[Function], Function]:
    """Show the fields of ``arguments`` in the signature and docstring of a function, instead of its ``**more``.

    Type checkers read ``**more: Unpack[...]``; notebooks, `help` and `inspect.signature` show what this sets.

    Args:
        arguments: The type of ``more``, made from the option table.

    Returns:
        A decorator that returns the function itself.
    """

    def show(function: Function) -> Function:
        function.__annotations__.pop(_MORE)
        own = typing.get_type_hints(function)
        more = typing.get_type_hints(arguments)
        signature = inspect.signature(function)
        named = [
            parameter.replace(annotation=own[name]) for name, parameter in signature.parameters.items() if name != _MORE
        ]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for name, hint in more.items()
        ]
        result = own.pop("return")
        function.__annotations__ = {**own, **more, "return": result}
        function.__doc__ = _described(function.__doc__ or "", list(more))
        shown = signature.replace(parameters=[*named, *added], return_annotation=result)
        function.__signature__ = shown  # type: ignore[attr-defined]
        return function

    return show


def _described(doc: str, names: list[str]) -> str:
    """A docstring with a line for each argument in place of the one for ``more``."""
    table = arguments_of_the_table()
    lines: list[str] = []
    for line in doc.splitlines():
        if line.strip().startswith(f"{_MORE}: "):
            depth = len(line) - len(line.lstrip())
            for name in names:
                text = f"{name}: {table[name].description}"
                lines += textwrap.wrap(text, _WIDTH, initial_indent=" " * depth, subsequent_indent=" " * (depth + 4))
        else:
            lines.append(line)
    return "\n".join(lines)
