"""Code ``command``: any script or program."""
