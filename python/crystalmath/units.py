"""Unit conversions: the one place where such a number stands.

CODATA 2018 (E. Tiesinga et al., Rev. Mod. Phys. 93, 025010 (2021)). The elementary charge is exact
since 2019, so the conversion between eV/Å³ and GPa is exact too. Plain numbers; imported from
anywhere.
"""

from __future__ import annotations

from typing import Final

CODATA_YEAR: Final = 2018

RYDBERG_EV: Final = 13.605693122994
HARTREE_EV: Final = 27.211386245988
BOHR_ANGSTROM: Final = 0.529177210903
RYDBERG_TIME_FS: Final = 0.04837768653
"""The time unit of Rydberg units, ħ/Ry."""

EV_PER_ANGSTROM3_GPA: Final = 160.2176634
"""1 eV/Å³ in GPa."""
KBAR_PER_GPA: Final = 10.0

RYDBERG_PER_BOHR_EV_PER_ANGSTROM: Final = RYDBERG_EV / BOHR_ANGSTROM
"""1 Ry/bohr in eV/Å."""
BOLTZMANN_EV_PER_K: Final = 1.380649e-23 / 1.602176634e-19
"""Exact since 2019."""
