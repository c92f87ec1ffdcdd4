"""Placeholder."""

STOPPED = "stopped before the time limit"
