"""What is wrong with an INCAR, in itself and beside the atoms, the k points and the cores."""
