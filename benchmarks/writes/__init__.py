"""Writes measured: topics by row, guarantees, epochs of a few rows, and the incumbent."""
