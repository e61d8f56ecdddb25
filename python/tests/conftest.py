"""Settings of all unit tests."""

from hypothesis import HealthCheck, settings

# How long it takes to make and to try an example depends on what else the machine does.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
