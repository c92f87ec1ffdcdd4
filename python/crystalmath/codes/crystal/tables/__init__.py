"""What CRYSTAL knows: keywords, groups, functionals, basis set libraries."""
