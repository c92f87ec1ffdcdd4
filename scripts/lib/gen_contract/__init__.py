"""Writes what is derived from the contract: see ``cli``."""
