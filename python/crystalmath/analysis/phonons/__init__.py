"""Phonons from finite displacements, through phonopy.

A. Togo, L. Chaput, T. Tadano, I. Tanaka, J. Phys. Condens. Matter 35, 353001 (2023),
doi:10.1088/1361-648X/acd831.
"""
