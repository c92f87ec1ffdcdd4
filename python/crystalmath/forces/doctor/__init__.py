"""Checks of an engine's numbers against each other, over a calculator. Needs numpy and ase.

    examination   the checks in their order
    specimens     the structures
    subject       the engine under examination: what it gives, and how exact it can be
    differences   forces and stress against differences of the energy
    symmetry      what must not change when a structure is moved, turned, renumbered or repeated
    conduct       the same again, several at once, refusals
    finding       how a check is told
    reference     one structure with its numbers, for a comparison at each later start

Run by ``calculators.examine`` in a process of its own; a check is told as the contract's
``EngineCheck``. The first word of its name is a property where failing means that this property is
wrong.
"""

from crystalmath.forces.doctor.examination import examine
from crystalmath.forces.doctor.reference import reference

__all__ = ["examine", "reference"]
