"""Bands and levels of a dense mesh: scf, bands and nscf one after the other in one job."""
