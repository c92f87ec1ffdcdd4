"""Equations of state: energy over volume, and what follows from it."""
