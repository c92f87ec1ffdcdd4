"""Paths through the Brillouin zone, and the edges of bands."""
