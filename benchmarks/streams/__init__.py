"""Streams measured: what thousands of topics cost, and how long a message takes to become a row."""
