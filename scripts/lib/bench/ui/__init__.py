"""Figures of the terminal UI: the real program in a pseudo-terminal, with a real daemon."""
