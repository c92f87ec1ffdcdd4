"""The density that nscf and bands start from: of the same crystal and the same physics, or none."""
