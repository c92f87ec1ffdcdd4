"""Figures of the daemon, measured from outside: see ``cli``."""
