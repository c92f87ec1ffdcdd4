"""CIF: the sites that a file lists, and what its own symmetry makes of them."""
