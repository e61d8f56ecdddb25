"""The version of the whole project: the wheel, the jar and its Maven artifact all read it from here."""

__version__ = "0.1.0"
