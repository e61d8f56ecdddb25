"""The verb ``pulsar-spark completion``: a script for the shell, made from the command line itself."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from pulsar_spark._tables import described_names, error_conditions, option_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SCRIPT = """_pulsar_spark() {{
    local path="" word words=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in
            {paths}) path="$path $word" ;;
        esac
    done
    case "$path" in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _pulsar_spark pulsar-spark"""


def add_completion(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], parser: Callable[[], argparse.ArgumentParser]
) -> None:
    """Add the verb to the command line.

    Args:
        commands: Where the verb belongs.
        parser: The whole command line.
    """
    summary = 'print the completion of this command for bash: eval "$(pulsar-spark completion)"'
    verb = commands.add_parser("completion", help=summary, description=summary)
    verb.add_argument("--json", action="store_true", help="print one JSON object")

    def run(chosen: argparse.Namespace) -> int:
        text = script(parser())
        print(json.dumps({"script": text}) if chosen.json else text)
        return 0

    verb.set_defaults(run=run)


def script(parser: argparse.ArgumentParser) -> str:
    """The script that completes verbs, their arguments, and names of options, columns, metrics and errors."""
    known = dict(_words(parser, ""))
    options = [option.key for option in option_table().options]
    known[" options"] += options
    known[" explain"] += [*options, *described_names(), *error_conditions()]
    paths = "|".join(f'"{path}"' for path in known if path)
    words = "\n".join(f'        "{path}") words="{" ".join(words)}" ;;' for path, words in known.items())
    return _SCRIPT.format(paths=paths, words=words)


def _words(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, list[str]]]:
    """The words that may follow a verb, and those that follow each of them."""
    actions = parser._actions  # noqa: SLF001 - argparse has no public list of arguments
    words = [name for action in actions for name in action.option_strings if name.startswith("--")]
    below = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    yield path, [*(name for choices in below for name in choices), *words]
    for choices in below:
        for name, verb in choices.items():
            yield from _words(verb, f"{path} {name}")
