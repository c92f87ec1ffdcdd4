"""Environments for packages that cannot live together, and processes in them.

Declared in one file each, locked, built with uv, cached by the hash of the lock. Implements
``services.ports_forces.EnvironmentProvider`` and ``ProcessHost``; handed over by ``api``.
"""
