"""Symmetry: how many dimensions a structure has, its group in the standard setting, its orbits.

Called in worker processes only; spglib does the search.
"""
