"""Structures: reading them, checking them, and what they are.

Importing this package is cheap: numpy and ase are loaded by the modules that a worker process of
the ``proc`` lane imports, never by the daemon. The daemon itself uses ``structures.reader`` only.
"""
