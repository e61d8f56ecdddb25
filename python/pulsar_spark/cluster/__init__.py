"""A cluster with its credentials, described once: for reads, writes, metadata and the command line. Needs no Spark."""

from __future__ import annotations

from pulsar_spark.cluster.cluster import PulsarCluster
from pulsar_spark.cluster.credentials import Basic, Certificate, OAuth2, Plugin, Store, Tls, Token, TokenFile

__all__ = ["Basic", "Certificate", "OAuth2", "Plugin", "PulsarCluster", "Store", "Tls", "Token", "TokenFile"]
