"""Checkpoints in topics, beside those in a local path."""
