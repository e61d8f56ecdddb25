"""Errors of the local server and of downloads."""

from __future__ import annotations


class LocalPulsarError(RuntimeError):
    """The local server cannot be started or used; the message has the reason and what to do."""


class ServerUnavailableError(LocalPulsarError):
    """No server can run on this machine; the message names what is missing and how to install it."""


class FetchError(RuntimeError):
    """A download failed; the message names what was tried and what to do."""
