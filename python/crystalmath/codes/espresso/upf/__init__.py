"""Pseudopotentials in the format UPF: what their headers say, and which one an element gets."""
