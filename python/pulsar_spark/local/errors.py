"""Errors of the local server and of downloads."""

from __future__ import annotations


class LocalPulsarError(RuntimeError):
    """The local server cannot be started or used; the message says why and what to do."""


class ServerUnavailableError(LocalPulsarError):
    """No server can run on this machine; the message says what is missing and how to install it."""


class FetchError(RuntimeError):
    """A download failed; the message says what was tried and what to do."""
