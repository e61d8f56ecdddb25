"""A query that copies a topic while the rate of its messages rises: ``make bench-load``."""
