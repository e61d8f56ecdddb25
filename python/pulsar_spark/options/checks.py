"""Checks of options that need no cluster: the same errors, in the same order, with the same texts as in the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark._tables import SCOPES, AliasDefinition, OptionDefinition, OptionTable, PrefixDefinition, option_table
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.forms import BLANKS, are_equal, form, is_host_and_port, scalable_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MASK = "***"

_CLIENT, ADMIN = "pulsar.client.", "pulsar.admin."
# Settings that the admin service may have for itself, with the options for them.
CREDENTIALS = {"authPluginClassName": "admin.auth.pluginClassName", "authParams": "admin.auth.params"}
_ENCRYPTED = ("pulsar+ssl://", "https://")


def check(options: Mapping[str, str], scopes: Sequence[str]) -> None:
    """Check the complete options of a read or write.

    Args:
        options: Every option by its name in Spark.
        scopes: The scopes of the options; several while the scope is not known.

    Raises:
        PulsarOptionError: The first error.
    """
    table = option_table()
    present = check_partial(options, scopes)
    for option in table.options:
        if option.required and set(option.scopes) & set(scopes) and option.key not in present:
            raise PulsarOptionError("PULSAR_OPTION_MISSING", option=option.key, example=option.example or "...")
    for keys, where in table.exactly_one:
        if set(where) & set(scopes):
            found = [f"`{key}`" for key in keys if key in present]
            if len(found) != 1:
                given = " and ".join(found) + " are set" if found else "none is set"
                raise PulsarOptionError("PULSAR_TOPIC_OPTION", problem=given)


def check_partial(options: Mapping[str, str], scopes: Sequence[str]) -> set[str]:
    """Check an incomplete set of options; returns their names as in the table.

    Raises:
        PulsarOptionError: The first error that further options cannot correct.
    """
    table = option_table()
    own = {key: value for key, value in options.items() if key.lower() not in table.spark_own}
    given = sorted(_translated(table, own, scopes).items())
    present = {_checked_option(table, key, value, scopes) for key, value in given if table.prefix_of(key) is None}
    present |= {
        _checked_setting(table, key, value, prefix, scopes)
        for key, value in given
        if (prefix := table.prefix_of(key)) is not None
    }
    for first, second in table.conflicts:
        if first in present and second in present:
            raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=first, second=second)
    for one, other in table.needs:
        if one in present and other not in present:
            raise PulsarOptionError("PULSAR_OPTION_INCOMPLETE", present=one, missing=other)
    return present


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name with the least edit distance, ignoring case, if that is at most a third of the longer name.

    Of equally near names the first in alphabetical order.
    """
    near: list[tuple[int, str]] = []
    for candidate in known:
        one, other, most = name.lower(), candidate.lower(), max(len(name), len(candidate)) // 3
        # So many letters have to be added at least; to compare a long name letter by letter takes long.
        if abs(len(one) - len(other)) <= most and (distance := _edit_distance(one, other)) <= most:
            near.append((distance, candidate))
    return min(near)[1] if near else None


def unknown(name: str, known: Iterable[str]) -> PulsarOptionError:
    """The error for a name that is not in the table: with the option of the same meaning, or one spelled alike.

    Names of Python have the meaning of those of Spark, and the result is a name of Python where those are known.
    """
    table, names = option_table(), list(known)
    meant = table.names_elsewhere.get(name.lower()) or table.names_elsewhere.get(name.replace("_", "").lower())
    option = table.find(meant) if meant else None
    nearest = (option.argument if option and option.argument in names else meant) or nearest_name(name, names)
    hint = f"; the nearest name is `{nearest}`" if nearest else ""
    return PulsarOptionError("PULSAR_OPTION_UNKNOWN", option=name, nearest=hint)


def _translated(table: OptionTable, options: Mapping[str, str], scopes: Sequence[str]) -> dict[str, str]:
    """The options by the names of this connector, instead of those of streamnative/pulsar-spark.

    Raises:
        PulsarOptionError: A value has no translation, or two names set one option to different values.
    """
    admin = {key: value for key, value in sorted(options.items()) if key.lower().startswith(ADMIN)}
    others = {key: value for key, value in sorted(options.items()) if key not in admin}
    natives = {key: value for key, value in others.items() if key.lower() not in table.aliases}
    url = _value_of(natives, "service.url")
    present = [(option, option.key, value) for key, value in natives.items() if (option := table.find(key))]
    foreign: dict[str, str] = {}
    for key, value in others.items():
        alias = table.aliases.get(key.lower())
        if alias is None:
            continue
        translation = _translation(table, alias, value, scopes, url)
        target = table.find(alias.target) if alias.target else None
        if target is not None and translation is not None:
            present.append((target, alias.name, translation))
            foreign[target.key] = translation
    _check_equal(present)
    known = {option.key for option, name, _ in present if name == option.key}
    result = {**{key: value for key, value in foreign.items() if key not in known}, **natives}
    own = {
        field: value
        for key, value in admin.items()
        if (field := _differing_credential(table, key, value, result, url)) is not None
    }
    return {**result, **_admin_credentials(table, own, result)}


def _admin_credentials(table: OptionTable, own: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """Credentials of the admin service alone, as options; what differs only in a part has the other part of the client.

    Raises:
        PulsarOptionError: An option for them is set to another value.
    """
    result: dict[str, str] = {}
    for field, target in sorted(CREDENTIALS.items()) if own else ():
        option, value = table.find(target), own.get(field)
        native = next(((key, text) for key, text in sorted(options.items()) if key.lower() == target.lower()), None)
        if value is not None and native is not None and option and not are_equal(option, native[1], value):
            raise PulsarOptionError("PULSAR_OPTION_ALIAS_CONFLICT", first=target, second=ADMIN + field, target=target)
        shared = None if native is not None else _value_of(options, _CLIENT + field)
        if value is not None or shared is not None:
            result[target] = shared if value is None and shared is not None else value or ""
    return result


def _translation(
    table: OptionTable, alias: AliasDefinition, value: str, scopes: Sequence[str], url: str | None
) -> str | None:
    _check_scope(alias.name, alias.scopes, scopes)
    allowed, result = _alias_value(table, alias, value, url)
    if allowed is None:
        return result
    if alias.is_unsupported:
        raise PulsarOptionError("PULSAR_OPTION_UNSUPPORTED", option=alias.name, note=alias.note)
    instead = f"Set `{alias.target}` instead." if alias.target else alias.note
    raise PulsarOptionError("PULSAR_OPTION_ALIAS", option=alias.name, allowed=allowed, value=value, instead=instead)


def _alias_value(
    table: OptionTable, alias: AliasDefinition, value: str, url: str | None
) -> tuple[str | None, str | None]:
    """The accepted form in words when the value does not have it, and the value of the alias's target."""
    plain = value.strip(BLANKS).lower()
    target = table.find(alias.target) if alias.target else None
    encrypted = url is None or url.strip(BLANKS).startswith(_ENCRYPTED)
    if alias.rule == "tlsOfServiceUrl" and plain == "true" and not encrypted:
        return "false, because `service.url` starts neither with pulsar+ssl:// nor with https://", None
    if alias.values or target is None:
        return (None, alias.values[plain]) if plain in alias.values else (" or ".join(alias.values), None)
    allowed, accepts = form(target)
    return (None, value.strip(BLANKS)) if accepts(value.strip(BLANKS)) else (allowed, None)


def _check_equal(present: Sequence[tuple[OptionDefinition, str, str]]) -> None:
    """Check that an alias sets its option to the same value as the other names that set it."""
    for index, (target, second, value) in enumerate(present):
        for option, first, other in present[:index] if second != target.key else ():
            if option is target and not are_equal(target, other, value):
                raise PulsarOptionError("PULSAR_OPTION_ALIAS_CONFLICT", first=first, second=second, target=target.key)


def admin_field(table: OptionTable, key: str) -> tuple[str, str]:
    """The client setting that ``pulsar.admin.*`` repeats, and the option that sets it here.

    Raises:
        PulsarOptionError: The client has no such setting.
    """
    field = next((name for name in table.client_fields if key.lower() == (ADMIN + name).lower()), None)
    if field is None:
        raise unknown(key, [ADMIN + name for name in table.client_fields])
    alias = table.aliases.get((_CLIENT + field).lower())
    return field, (alias.target if alias else None) or _CLIENT + field


def _differing_credential(
    table: OptionTable, key: str, value: str, options: Mapping[str, str], url: str | None
) -> str | None:
    """The name of a setting of the admin service that is a credential and differs from the client's.

    Raises:
        PulsarOptionError: Another setting differs.
    """
    field, other = admin_field(table, key)
    alias = table.aliases.get((_CLIENT + field).lower())
    allowed, expected = (None, value.strip(BLANKS)) if alias is None else _alias_value(table, alias, value, url)
    option, current = table.find(other), _value_of(options, other)
    if option is not None and current is None:
        current = option.default
    if alias is not None and expected is None:
        equal = allowed is None
    elif option is None:
        equal = current is not None and current.strip(BLANKS) == expected
    else:
        equal = current is not None and expected is not None and are_equal(option, current, expected)
    if not equal and field not in CREDENTIALS:
        raise PulsarOptionError("PULSAR_OPTION_ADMIN", option=ADMIN + field, other=other)
    return None if equal else field


def _value_of(options: Mapping[str, str], key: str) -> str | None:
    return next((value for name, value in sorted(options.items()) if name.lower() == key.lower()), None)


def _checked_option(table: OptionTable, key: str, value: str, scopes: Sequence[str]) -> str:
    option = table.find(key)
    if option is None:
        raise unknown(key, [*(one.key for one in table.options), *(alias.name for alias in table.aliases.values())])
    _check_scope(option.key, option.scopes, scopes)
    _check_form(option, value)
    return option.key


def _check_form(option: OptionDefinition, value: str) -> None:
    scalable = scalable_topic(option, value)
    if scalable is not None:
        raise PulsarOptionError("PULSAR_TOPIC_SCALABLE", topic=scalable)
    allowed, accepts = form(option)
    if not accepts(value.strip(BLANKS)):
        given = MASK if option.secret else value
        allowed += _hint(option, value.strip(BLANKS))
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option=option.key, value=given, allowed=allowed)


def _hint(option: OptionDefinition, value: str) -> str:
    """The form that was probably meant, for an error."""
    if option.type == "serviceUrl" and is_host_and_port(value):
        return f"; perhaps `pulsar://{value}` is meant"
    nearest = nearest_name(value, option.values) if option.type == "enum" else None
    return f"; the nearest is `{nearest}`" if nearest else ""


def _checked_setting(table: OptionTable, key: str, value: str, prefix: PrefixDefinition, scopes: Sequence[str]) -> str:
    found = setting_name(table, key, prefix, scopes)
    for count in prefix.counts:
        if count.key == found:
            _check_form(count, value)
    return found


def setting_name(table: OptionTable, key: str, prefix: PrefixDefinition, scopes: Sequence[str]) -> str:
    """A client setting by the client's own spelling.

    Raises:
        PulsarOptionError: There is no such setting in these scopes, or it cannot be set.
    """
    _check_scope(key, prefix.scopes, scopes)
    instead = table.managed.get(key.lower())
    if instead is not None:
        raise PulsarOptionError("PULSAR_OPTION_MANAGED", option=key, instead=instead)
    useless = table.without_effect.get(key.lower())
    if useless is not None:
        raise PulsarOptionError("PULSAR_OPTION_WITHOUT_EFFECT", option=key, reason=useless[0], instead=useless[1])
    names = {field.lower(): prefix.prefix + field for field in prefix.fields}
    found = names.get(key[len(prefix.prefix) :].lower())
    if found is None:
        aliases = [alias.name for alias in table.aliases.values() if alias.name.startswith(prefix.prefix)]
        raise unknown(key, [*names.values(), *aliases])
    return found


def _check_scope(key: str, allowed: Sequence[str], scopes: Sequence[str]) -> None:
    if not option_table().accepts(allowed, scopes):
        raise PulsarOptionError(
            "PULSAR_OPTION_WRONG_MODE",
            option=key,
            mode=" or ".join(SCOPES[scope] for scope in scopes),
            allowed=", ".join(words for scope, words in SCOPES.items() if scope in allowed),
        )


def _edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(one) + 1))
    for j, right in enumerate(other, 1):
        above, row = row, [j]
        for i, left in enumerate(one, 1):
            row.append(min(row[-1] + 1, above[i] + 1, above[i - 1] + (left != right)))
    return row[-1]
