"""Cells and meshes: the lattice record, the operators of a setting, expansion, SHRINK."""
