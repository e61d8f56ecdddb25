"""The verb ``pulsar-spark completion``: a script for bash, zsh or fish, made from the command line itself."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from pulsar_spark._tables import described_names, error_conditions, option_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SHELLS = ("bash", "zsh", "fish")
_BASH = """_pulsar_spark() {{
    local path="" word words=""
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
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

_BASH_CASE = '        "{}") words="{}" ;;'

# zsh runs completions of bash.
_ZSH = """(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
autoload -Uz bashcompinit && bashcompinit
"""

_FISH = """function __pulsar_spark
    set -l path ""
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
            case {paths}
                set path "$path $word"
        end
    end
    switch "$path"
{words}
    end
end
complete -c pulsar-spark -a "(__pulsar_spark)\""""
_FISH_CASE = '        case "{}"\n            string split -- " " "{}"'


def add_completion(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], parser: Callable[[], argparse.ArgumentParser]
) -> None:
    """Add the verb to the command line.

    Args:
        commands: Where the verb belongs.
        parser: The whole command line.
    """
    summary = 'print the completion of this command for a shell: eval "$(pulsar-spark completion)"'
    verb = commands.add_parser("completion", help=summary, description=summary)
    verb.add_argument("shell", nargs="?", choices=_SHELLS, default="bash", help="shell (default: %(default)s)")
    verb.add_argument("--json", action="store_true", help="print one JSON object")

    def run(chosen: argparse.Namespace) -> int:
        text = script(parser(), chosen.shell)
        print(json.dumps({"script": text}) if chosen.json else text)
        return 0

    verb.set_defaults(run=run)


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that completes verbs, their arguments, and names of options, columns, metrics and errors."""
    known = dict(_words(parser, ""))
    options = [option.key for option in option_table().options]
    known[" completion"] += _SHELLS
    known[" options"] += options
    known[" explain"] += [*options, *described_names(), *error_conditions()]
    paths = [f'"{path}"' for path in known if path]

    def cases(form: str) -> str:
        return "\n".join(form.format(path, " ".join(words)) for path, words in known.items())

    if shell == "fish":
        return _FISH.format(paths=" ".join(paths), words=cases(_FISH_CASE))
    return (_ZSH if shell == "zsh" else "") + _BASH.format(paths="|".join(paths), words=cases(_BASH_CASE))


def _words(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, list[str]]]:
    """The words that may follow a verb, and those that follow each of them."""
    actions = parser._actions  # noqa: SLF001 - argparse has no public list of arguments
    words = [name for action in actions for name in action.option_strings if name.startswith("--")]
    below = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    yield path, [*(name for choices in below for name in choices), *words]
    for choices in below:
        for name, verb in choices.items():
            yield from _words(verb, f"{path} {name}")
