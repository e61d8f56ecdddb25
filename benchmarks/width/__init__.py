"""A stream over thousands of topics: ``make bench-width``."""
