"""Densities of states from levels."""
