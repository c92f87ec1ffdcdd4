"""INCAR, POSCAR and KPOINTS as text: read, changed and written. Pure, no numerical library."""
