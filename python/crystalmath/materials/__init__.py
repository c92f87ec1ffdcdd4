"""Providers of structures, one file each: shipped ones, the user's own, databases on the network.

The classes are light and live in the daemon; the functions at the end of each file do the work in
worker processes. The providers do not know each other. Built by ``materials.registry``.
"""
