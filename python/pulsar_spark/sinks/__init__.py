"""What the control topics of an exactly-once sink say; see docs/develop/exactly-once.md."""
