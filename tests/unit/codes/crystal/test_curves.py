"""Band structures and densities of states: both spins, the zero of energy, touching numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.codes.crystal.output.curves import load_curves, parse_curves
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.output.series import series_of
from crystalmath.units import HARTREE_EV

BAND = """# NKPT     2 NBND     3 NSPIN     2
# NPANEL     1
#      1   (0,0,0)/2
#      2   (1,0,0)/2
@ YAXIS LABEL "E-EFERMI (HARTREE)"
  0.00000E+00 -0.50000E+00 -0.10000E+00  0.20000E+00
  0.50000E+00 -0.40000E+00 -0.05000E+00  0.30000E+00
  0.00000E+00 -0.51000E+00 -0.11000E+00  0.21000E+00
  0.50000E+00 -0.41000E+00 -0.06000E+00  0.31000E+00
# EFERMI (HARTREE)   -0.15202
"""
DOSS = """# NEPTS     2 NPROJ     1 NSPIN     2
@ YAXIS LABEL "DENSITY OF STATES (STATES/HARTREE/CELL)"
 -1.0000E-01  5.0000E+00
  1.0000E-01  2.0000E+00
 -1.0000E-01 -4.0000E+00
  1.0000E-01 -1.0000E+00
"""
FORT25 = """-%-0BAND    2    3 0.00000E+00 1.00000E-01-5.00000E-01
-7.00000E-01-1.00000E-01
    0    0    0    1    0    1
-7.00000E-01-1.00000E-01-6.90000E-01-1.10000E-01-6.80000E-01-1.20000E-01
-%-0MAPN    1    1 0.00000E+00 0.00000E+00 0.00000E+00
 0.00000E+00
    0
 1.00000E+00
-%-1DOSS    1    2 1.00000E-01 0.00000E+00-5.00000E-01
-6.00000E-01 0.00000E+00
  1  0  0  0  0  0
 1.00000E+00 2.00000E+00
-%-1DOSS    1    2 1.00000E-01 0.00000E+00-5.00000E-01
-6.00000E-01 0.00000E+00
  1  0  0  0  0  0
-3.00000E+00-4.00000E+00
"""


def test_a_second_spin_is_a_second_block_and_its_density_is_turned() -> None:
    [bands], _ = parse_curves(BAND)
    assert (bands.n_kpoints, bands.n_bands, bands.n_spins) == (2, 3, 2)
    assert bands.energies[1][0] == [-0.51, -0.11, 0.21]
    assert bands.fermi == -0.15202
    _, [dos] = parse_curves(DOSS)
    assert dos.densities == [[[5.0, 2.0]], [[4.0, 1.0]]]


def test_the_zero_of_fort25_is_its_own_fermi_energy_and_foreign_blocks_are_passed_over() -> None:
    [bands], [dos] = parse_curves(FORT25)
    assert bands.energies[0][0] == pytest.approx([-0.2, 0.4])
    assert bands.distances == pytest.approx([0.0, 0.1, 0.2])
    assert dos.energies == pytest.approx([-0.1, 0.0])
    assert dos.densities == [[[1.0, 2.0]], [[3.0, 4.0]]]


@pytest.mark.parametrize("whole", [BAND, DOSS, FORT25])
def test_a_file_that_is_cut_off_gives_no_curve(whole: str) -> None:
    lines = whole.splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line[0] in " -" and not line.startswith("-%-"))
    for end in range(last):
        bands, dos = parse_curves("".join(lines[:end]))
        assert all(found.complete for found in bands)
        assert all(found.complete for found in dos)
    bands, dos = parse_curves("".join(lines[:last]))
    assert not (bands if whole is BAND else dos)


def test_what_is_no_curve_is_none(tmp_path: Path) -> None:
    path = tmp_path / "mgo.BAND"
    for data in (b"", b"\0", b"# NKPT", b"-%-0BAND\n", b"# NEPTS 2 NPROJ 1 NSPIN 1\n COOP\n 1 2\n"):
        path.write_bytes(data)
        assert load_curves(path) == ([], [])


def test_curves_are_in_ev_with_a_gap_between_bands() -> None:
    [bands], _ = parse_curves(BAND)
    _, [dos] = parse_curves(DOSS)
    curves = series_of(Run(), bands, dos)
    first = curves["bands_alpha"]
    assert first["y"][:3] == [-0.5 * HARTREE_EV, -0.4 * HARTREE_EV, None]
    assert len(first["x"]) == 9
    assert "(0 0 0)/2, (1 0 0)/2" in first["x_label"]
    assert curves["dos_beta"]["y"] == [4.0 / HARTREE_EV, 1.0 / HARTREE_EV]
