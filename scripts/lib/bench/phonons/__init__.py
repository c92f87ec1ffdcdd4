"""Phonons as a workflow beside phonopy that is driven in one process."""
