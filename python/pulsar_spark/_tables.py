"""The tables shared with the JVM side of the connector, loaded from the copies in ``tables/``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCOPES: Mapping[str, str] = {
    "batchRead": "batch read",
    "streamRead": "streaming read",
    "batchWrite": "batch write",
    "streamWrite": "streaming write",
    "metadata": "metadata table",
    "catalog": "catalog",
}
"""The scopes of options, with their names in texts."""

ARGUMENTS: Mapping[str, str] = {
    "read_level": "level",
    "starting_offsets": "start",
    "starting_time": "start",
    "ending_offsets": "end",
    "ending_time": "end",
}
"""Options of reads by their names in Python, with the argument and field that replaces each and accepts more."""


def name_in_python(name: str) -> str:
    """The name in Python of an option or a column: ``auth.tokenFile`` is ``auth_token_file``."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace(".", "_").lower()


@dataclass(frozen=True, kw_only=True)
class ErrorCondition:
    """One entry of ``error-conditions.json``."""

    family: str
    kind: str
    sql_state: str
    message: str
    action: str


@dataclass(frozen=True, kw_only=True)
class OptionDefinition:
    """One line of the option table."""

    key: str
    type: str
    doc: str
    group: str
    since: str
    scopes: tuple[str, ...]
    default: str | None = None
    required: bool = False
    secret: bool = False
    values: tuple[str, ...] = ()
    min: int | None = None
    max: int | None = None
    example: str | None = None

    @property
    def heading(self) -> str:
        """The title of the option's group."""
        return self.group.upper() if self.group == "tls" else self.group.capitalize()

    @property
    def argument(self) -> str:
        """The name in Python: ``auth.tokenFile`` is ``auth_token_file``."""
        return name_in_python(self.key)

    @property
    def description(self) -> str:
        """The text of docstrings: what the option does, its default, its least and its largest value."""
        default = "" if self.default is None else f" Default: ``{self.default}``."
        bounds = [("least", self.min), ("most", self.max)]
        return self.doc + default + "".join(f" At {word} {bound}." for word, bound in bounds if bound is not None)


@dataclass(frozen=True, kw_only=True)
class PrefixDefinition:
    """A prefix for settings with the Pulsar client's own names.

    Attributes:
        prefix: The prefix, such as ``pulsar.client.``.
        scopes: The scopes where the settings are valid.
        doc: Their description.
        fields: The names of the settings.
        counts: Those whose numbers are bounded. Their values are not shown, as those of all settings of a client.
    """

    prefix: str
    scopes: tuple[str, ...]
    doc: str
    fields: tuple[str, ...]
    counts: tuple[OptionDefinition, ...] = ()

    @property
    def argument(self) -> str:
        """The name in Python: ``pulsar.client.`` is ``client``."""
        return self.prefix.rstrip(".").rpartition(".")[2]

    @property
    def description(self) -> str:
        """The text of docstrings."""
        return self.doc


@dataclass(frozen=True, kw_only=True)
class AliasDefinition:
    """An option of streamnative/pulsar-spark that is accepted here.

    Attributes:
        name: The name there.
        target: The option that it sets; None when it sets none.
        values: The accepted values in lower case, each with the value of ``target``; None means no effect. Empty when
            the values are those of ``target``.
        rule: The name of a further check of the value.
        is_unsupported: Whether any other value is an option that does not exist here yet.
        scopes: The scopes where it is valid.
        note: How it differs from ``target``, or what to do without it.
        since: The first version that accepts it.
    """

    name: str
    target: str | None
    values: Mapping[str, str | None]
    rule: str | None
    is_unsupported: bool
    scopes: tuple[str, ...]
    note: str
    since: str


@dataclass(frozen=True, kw_only=True)
class OptionTable:
    """The option table, ``options.json``, with the names of client settings from ``client-fields.json``.

    Attributes:
        options: All options.
        prefixes: All prefixes of client settings.
        exactly_one: Groups of options, with the scopes that need exactly one of each.
        conflicts: Pairs that exclude each other.
        needs: Pairs of an option and the option that it requires.
        spark_own: Options that Spark itself adds, in lower case.
        managed: Client settings that the connector sets itself, in lower case, with the advice in errors.
        without_effect: Client settings that change nothing here, in lower case: why, and the advice in errors.
        names_elsewhere: Names of options of Spark's Kafka source, in lower case, with those of the same meaning here.
        aliases: Options of streamnative/pulsar-spark, by their names in lower case.
        client_fields: The names of the Pulsar client's settings.
    """

    options: tuple[OptionDefinition, ...]
    prefixes: tuple[PrefixDefinition, ...]
    exactly_one: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    conflicts: tuple[tuple[str, str], ...]
    needs: tuple[tuple[str, str], ...]
    spark_own: frozenset[str]
    managed: Mapping[str, str]
    without_effect: Mapping[str, tuple[str, str]]
    names_elsewhere: Mapping[str, str]
    aliases: Mapping[str, AliasDefinition]
    client_fields: tuple[str, ...]

    @cached_property
    def _by_key(self) -> Mapping[str, OptionDefinition]:
        return {option.key.lower(): option for option in self.options}

    def find(self, key: str) -> OptionDefinition | None:
        """The option of this name, ignoring case."""
        return self._by_key.get(key.lower())

    def meaning(self, key: str) -> str:
        """The option that ``key`` sets, in lower case: the target of an alias, else the key itself."""
        alias = self.aliases.get(key.lower())
        return ((alias.target if alias else None) or key).lower()

    def prefix_of(self, key: str) -> PrefixDefinition | None:
        """The prefix of ``key``, ignoring case."""
        return next((prefix for prefix in self.prefixes if key.lower().startswith(prefix.prefix)), None)

    @staticmethod
    def accepts(allowed: Sequence[str], scopes: Sequence[str]) -> bool:
        """True if an option of the scopes ``allowed`` is valid in one of ``scopes``."""
        taken = {*scopes, "batchRead"} if "metadata" in scopes else set(scopes)
        return "catalog" in scopes or bool(taken & set(allowed))


@cache
def error_conditions() -> Mapping[str, ErrorCondition]:
    """Every error condition by name."""
    return parse_conditions(_load("error-conditions.json"))


@cache
def option_table() -> OptionTable:
    """The option table."""
    return parse_options(_load("options.json"), _load("client-fields.json"))


@cache
def described_names() -> Mapping[str, Mapping[str, str]]:
    """Metadata columns and metrics by name: the kind of each, and its cells in the documentation."""
    return _load("names.json")


def parse_conditions(table: Mapping[str, Mapping[str, str]]) -> Mapping[str, ErrorCondition]:
    """Read the list of error conditions as JSON has it."""
    return {
        name: ErrorCondition(
            family=entry["family"],
            kind=entry["kind"],
            sql_state=entry["sqlState"],
            message=entry["message"],
            action=entry["action"],
        )
        for name, entry in table.items()
    }


def parse_options(table: Mapping[str, Any], client_fields: Mapping[str, list[str]]) -> OptionTable:
    """Build the table from the parsed files."""
    return OptionTable(
        options=tuple(OptionDefinition(**_tuples(entry)) for entry in table["options"]),
        prefixes=tuple(
            _prefix({"fields": tuple(client_fields.get(entry["prefix"], ())), **_tuples(entry)})
            for entry in table["prefixes"]
        ),
        exactly_one=tuple((tuple(group["keys"]), tuple(group["scopes"])) for group in table["exactlyOne"]),
        conflicts=tuple((first, second) for first, second in table["conflicts"]),
        needs=tuple((option, other) for option, other in table["needs"]),
        spark_own=frozenset(key.lower() for key in table["sparkOwn"]),
        managed={key.lower(): instead for key, instead in table["managed"].items()},
        without_effect={key.lower(): (one["reason"], one["instead"]) for key, one in table["withoutEffect"].items()},
        names_elsewhere={key.lower(): name for key, name in table["namesElsewhere"].items()},
        aliases={entry["from"].lower(): _alias(entry) for entry in table["aliases"]},
        client_fields=tuple(client_fields.get("pulsar.client.", ())),
    )


def _prefix(entry: dict[str, Any]) -> PrefixDefinition:
    counts = tuple(
        OptionDefinition(
            key=entry["prefix"] + count["name"],
            type="count",
            doc=entry["doc"],
            group="settings of the Pulsar client",
            since="0.1.0",
            scopes=entry["scopes"],
            secret=True,
            min=count["min"],
            max=count.get("max"),
        )
        for count in entry.get("counts", ())
    )
    return PrefixDefinition(**{**entry, "counts": counts})


def _alias(entry: Mapping[str, Any]) -> AliasDefinition:
    return AliasDefinition(
        name=entry["from"],
        target=entry.get("to"),
        values=entry.get("values", {}),
        rule=entry.get("rule"),
        is_unsupported=entry.get("unsupported", False),
        scopes=tuple(entry["scopes"]),
        note=entry["note"],
        since=entry["since"],
    )


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def _load(name: str) -> dict[str, Any]:
    file = resources.files("pulsar_spark") / "tables" / name  # the package may be a zip file
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content
