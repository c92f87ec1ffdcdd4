"""Basis sets as text: shells, occupations, where they come from."""
