"""What can go wrong with a server on this machine."""

from __future__ import annotations


class LocalPulsarError(RuntimeError):
    """The local server could not be started or used; the message says why and what to do."""


class ServerUnavailableError(LocalPulsarError):
    """No server can be run on this machine; the message says what is missing and how to get it."""


class FetchError(RuntimeError):
    """A file could not be fetched; the message says what was tried and what to do."""
