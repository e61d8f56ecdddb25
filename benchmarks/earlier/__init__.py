"""This version measured beside an earlier one, whose jar is given."""
