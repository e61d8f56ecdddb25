"""Settings of all unit tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
