"""Statistics of molecular dynamics."""
