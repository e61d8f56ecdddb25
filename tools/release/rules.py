"""The rules of a release, in the order in which docs/develop/releasing.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from release import distributions, hosts, jars, maven, sbom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from release.layout import Release

    Rule = Callable[[Release], Iterator[str]]

RULES: tuple[Rule, ...] = (
    maven.files_are_complete,
    maven.checksums_match,
    maven.pom_is_complete,
    maven.pom_fetches_nothing,
    maven.version_is_final,
    jars.jar_has_our_roots_only,
    jars.jars_have_no_duplicates,
    jars.jars_have_licence_and_notice,
    jars.libraries_are_final,
    jars.classes_are_of_java_17,
    jars.sources_are_there,
    jars.documentation_is_there,
    distributions.wheel_metadata_is_complete,
    distributions.wheel_record_matches,
    distributions.distributions_have_licence_and_notice,
    distributions.distributions_have_the_jar,
    distributions.twine_accepts,
    hosts.no_registry_is_named,
    sbom.bills_of_materials_are_valid,
)


def title(rule: Rule) -> str:
    """What the rule says, in one line."""
    return (rule.__doc__ or "").partition("\n")[0].strip()
