"""What VASP leaves: vasprun.xml as a stream, OUTCAR by its words, the verdict on both."""
