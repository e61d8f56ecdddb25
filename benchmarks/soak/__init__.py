"""A stream that runs for a long time while everything around it changes: ``make soak``."""
