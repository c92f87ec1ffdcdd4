"""Code ``vasp``: VASP, from a structure and an input set, or from INCAR, POSCAR and KPOINTS.

``adapter`` is what the daemon uses. Only ``generate`` loads pymatgen, in a worker process; decks
and outputs are text. No file of this folder holds a pseudopotential, and none ever stores one: see
``run.potcar``.
"""
