"""Code ``forces``: energies, forces and relaxations with a force engine.

``adapter`` is what the daemon uses and loads nothing heavy; ``job`` is the program that a job runs
in a process of its own.
"""
