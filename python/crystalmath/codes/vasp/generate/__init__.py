"""From a structure and an input set to INCAR, KPOINTS, POSCAR and POTCAR.spec, in a worker."""
