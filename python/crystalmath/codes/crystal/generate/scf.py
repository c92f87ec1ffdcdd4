"""The SCF section: tolerances, mesh, convergence, spin."""

from __future__ import annotations

from crystalmath.analysis.mesh import mesh_of
from crystalmath.codes.crystal.cell.lattice import cell_from_record
from crystalmath.codes.crystal.cell.mesh import primitive_cell, reciprocal_rotations
from crystalmath.codes.crystal.cell.settings import Setting, layer_setting, space_setting
from crystalmath.codes.crystal.deck.shrink import Shrink, with_net
from crystalmath.codes.crystal.generate.hamiltonian import Hamiltonian
from crystalmath.codes.crystal.generate.mesh import asked_mesh
from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.codes.crystal.generate.spins import FIELD as SPINS
from crystalmath.codes.crystal.generate.spins import SpinLabels
from crystalmath.codes.crystal.generate.tasks import PERIODIC_AXES
from crystalmath.codes.crystal.tables import functionals
from crystalmath.contract.d12 import D12Options, OpenShell
from crystalmath.errors import InvalidParams

SPACING = 0.30
SPACING_METAL = 0.20
LOCK_CYCLES = 10


def scf_lines(
    options: D12Options, energy: Hamiltonian, placed: Placed, spins: SpinLabels
) -> tuple[list[str], Shrink | None]:
    """The records after the Hamiltonian, and the mesh that SHRINK asks for.

    Raises
    ------
    InvalidParams
        A mesh that breaks the symmetry, or spins that do not fit.
    """
    lines = list(energy.lines)
    tolerances = options.tolinteg or functionals.tolinteg(
        options.method, energy.functional, frequencies=options.freqcalc is not None
    )
    lines += ["TOLINTEG", " ".join(str(value) for value in tolerances)]
    mesh = shrink(options, placed)
    if mesh is not None:
        lines += ["SHRINK", *mesh.lines()]
    fine = options.freqcalc is not None or options.elastcon is not None
    toldee = int(options.toldee) if options.toldee is not None else (10 if fine else 8)
    lines += ["TOLDEE", str(toldee), "MAXCYCLE", str(options.maxcycle)]
    lines += ["FMIXING", str(options.fmixing)]
    if options.smear_hartree is not None:
        lines += ["SMEAR", f"{options.smear_hartree:g}"]
    lines.append(options.accelerator)
    if options.accelerator == "BROYDEN":
        lines.append("0.0001 50 2")  # W0, IMIX, ISTART of the manual's example
    if options.levshift is not None:
        lines += ["LEVSHIFT", f"{options.levshift[0]} {options.levshift[1]}"]
    lines += _spin_lines(options, placed, spins)
    if options.guess:
        lines.append("GUESSP")
    return lines, mesh


def shrink(options: D12Options, placed: Placed) -> Shrink | None:
    """The mesh; None for a molecule.

    Raises
    ------
    InvalidParams
        The mesh that was asked for breaks the symmetry.
    """
    axes = PERIODIC_AXES[placed.dimension]
    if axes == 0:
        if options.shrink is not None or options.k_spacing_inv_angstrom is not None:
            field = "shrink" if options.shrink is not None else "k_spacing_inv_angstrom"
            raise InvalidParams(
                "a molecule has no reciprocal space",
                hint="leave it out",
                field=f"options.{field}",
            )
        return None
    setting = _setting(placed)
    rotations = reciprocal_rotations(setting)
    if options.shrink is None:
        spacing = options.k_spacing_inv_angstrom or (SPACING_METAL if options.metal else SPACING)
        cell = primitive_cell(
            cell_from_record(placed.dimension, placed.group, placed.lattice), setting
        )
        return with_net(mesh_of(cell, spacing, rotations, axes), metal=options.metal)
    return asked_mesh(options.shrink, axes, rotations, metal=options.metal)


def _setting(placed: Placed) -> Setting:
    if placed.dimension == "CRYSTAL":
        return space_setting(placed.group)
    return layer_setting(placed.group) if placed.dimension == "SLAB" else space_setting(1)


def _spin_lines(options: D12Options, placed: Placed, spins: SpinLabels) -> list[str]:
    lines: list[str] = []
    if spins.of_atom:
        rows = []
        first = 1
        for site in placed.sites:
            found = {spins.of_atom.get(atom, 0) for atom in site.atoms}
            if len(found) > 1:
                raise InvalidParams(
                    "atoms that are images of one another have different spins",
                    hint="give a structure in which they are different atoms",
                    field=SPINS,
                )
            spin = found.pop()
            if spin:
                rows += [f"{first + step} {spin}" for step in range(site.multiplicity)]
            first += site.multiplicity
        if rows:
            lines += ["ATOMSPIN", str(len(rows)), *rows]
    if isinstance(options.spin, OpenShell) and options.spin.n_alpha_minus_beta is not None:
        cycles = options.spin.lock_cycles or LOCK_CYCLES
        lines += ["SPINLOCK", f"{options.spin.n_alpha_minus_beta} {cycles}"]
    return lines
