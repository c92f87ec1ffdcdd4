"""Phonons by linear response: scf and ph.x one after the other in one job."""
