"""Elastic constants: strains, the fit, what follows from the constants, stability."""
