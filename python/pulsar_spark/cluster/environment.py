"""The cluster that environment variables name."""

from __future__ import annotations

import os
from typing import Any

from pulsar_spark.cluster import client_conf
from pulsar_spark.cluster.credentials import Tls, Token, TokenFile
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.resolve import SERVICE_URL_VARIABLE

_ADMIN_URL, _TOKEN, _TOKEN_FILE = "PULSAR_ADMIN_URL", "PULSAR_TOKEN", "PULSAR_TOKEN_FILE"
_TRUSTED = "PULSAR_TLS_TRUST_CERTS_FILE"


def arguments() -> dict[str, Any]:
    """The fields of a `PulsarCluster` that the variables set, over those of the file that one of them names.

    Raises:
        PulsarOptionError: The file cannot be used, or two variables set the same.
    """
    present = {name: value for name, value in os.environ.items() if value}
    given = client_conf.arguments(None) if client_conf.VARIABLE in present else {}
    named = {"service_url": SERVICE_URL_VARIABLE, "admin_url": _ADMIN_URL}
    given |= {name: present[variable] for name, variable in named.items() if variable in present}
    if _TOKEN in present and _TOKEN_FILE in present:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=_TOKEN, second=_TOKEN_FILE)
    if _TOKEN in present:
        given["auth"] = Token(present[_TOKEN])
    if _TOKEN_FILE in present:
        given["auth"] = TokenFile(present[_TOKEN_FILE])
    if _TRUSTED in present:
        given["tls"] = Tls(present[_TRUSTED])
    return given
