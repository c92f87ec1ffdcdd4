"""Each option stands in its block, and what does not go together is refused with its field."""

from __future__ import annotations

from typing import Any

import pytest

from crystalmath.errors import InvalidParams
from support.crystals import FACES, Make, crystal, hexagonal, rocksalt, water

INLINE = {"Mg": "STO-3G", "O": "STO-3G"}

PLACES: list[tuple[dict[str, Any], list[str]]] = [
    ({"functional": "PBE0"}, ["DFT", "PBE0", "XLGRID", "END", "TOLINTEG", "8 8 8 8 24"]),
    ({"functional": "PBESOL"}, ["DFT", "EXCHANGE", "PBESOL", "CORRELAT", "PBESOL"]),
    ({"functional": "PBE/LYP"}, ["EXCHANGE", "PBE", "CORRELAT", "LYP"]),
    ({"dispersion": "D3"}, ["DFT", "PBE-D3", "XLGRID", "END"]),
    ({"grid": "HUGEGRID"}, ["HUGEGRID", "END"]),
    ({"method": "R2SCANSOL3C"},
     ["BASISSET", "SOLDEF2MSVP", "DFT", "R2SCANSOL3C", "END", "TOLINTEG", "7 7 7 7 25"]),
    ({"method": "HF"}, ["BASISSET", "POB-TZVP-REV2", "TOLINTEG"]),
    ({"method": "UHF"}, ["BASISSET", "POB-TZVP-REV2", "UHF", "TOLINTEG"]),
    ({"shrink": [6, 12]}, ["SHRINK", "6 12", "TOLDEE"]),
    ({"metal": True, "smear_hartree": 0.005}, ["SHRINK", "13 26", "TOLDEE"]),
    ({"toldee": 1e-7}, ["TOLDEE", "7", "MAXCYCLE"]),
    ({"maxcycle": 50, "fmixing": 70}, ["MAXCYCLE", "50", "FMIXING", "70", "DIIS"]),
    ({"metal": True, "smear_hartree": 0.005}, ["FMIXING", "30", "SMEAR", "0.005", "DIIS"]),
    ({"accelerator": "BROYDEN"}, ["BROYDEN", "0.0001 50 2"]),
    ({"levshift": [6, 1]}, ["DIIS", "LEVSHIFT", "6 1", "END"]),
    ({"guess": True}, ["GUESSP", "END"]),
    ({"spin": "open"}, ["DFT", "SPIN", "EXCHANGE"]),
    ({"spin": {"n_alpha_minus_beta": 2, "lock_cycles": 5}}, ["SPINLOCK", "2 5", "END"]),
    ({"optgeom": {}}, ["OPTGEOM", "ATOMONLY", "TOLDEG", "0.0003", "TOLDEX", "0.0012",
                       "MAXCYCLE", "100", "FINALRUN", "4", "END", "BASISSET"]),
    ({"optgeom": {"type": "FULLOPTG"}}, ["OPTGEOM", "FULLOPTG", "TOLDEG"]),
    ({"freqcalc": {"intens": True, "temperat": [3, 100.0, 300.0]}},
     ["FREQCALC", "NUMDERIV", "2", "INTENS", "TEMPERAT", "3 100 300", "END", "BASISSET"]),
    ({"freqcalc": {"raman": True}}, ["INTENS", "INTRAMAN", "INTCPHF", "END", "END", "BASISSET"]),
    ({"freqcalc": {}}, ["XXLGRID", "END"]),
    ({"freqcalc": {}}, ["TOLDEE", "10"]),
    ({"freqcalc": {"isotopes": {"1": 26.0, "2": 26.0, "3": 26.0, "4": 26.0}}},
     ["ISOTOPES", "1", "1 26"]),
    ({"freqcalc": {"dispersion": {"supercell": [[2, 0, 0], [0, 2, 0], [0, 0, 2]],
                                  "bands": {"iss": 4, "nsub": 20,
                                            "segments": [[0, 0, 0, 2, 0, 2]]}}}},
     ["SCELPHONO", "2 0 0", "0 2 0", "0 0 2", "FREQCALC", "NUMDERIV", "2", "DISPERSI", "BANDS",
      "4 20", "1", "0 0 0  2 0 2", "END"]),
    ({"elastcon": {"preoptgeom": {}}}, ["ELASTCON", "PREOPTGEOM", "ATOMONLY", "TOLDEG"]),
    ({"eos": {}}, ["EOS", "RANGE", "0.94 1.06 9", "END", "BASISSET"]),
    ({"extra": ["TESTGEOM", "NOBIPOLA"]}, ["NOBIPOLA", "END"]),
    ({"extra": [{"section": "scf", "text": "LDREMO\n4"}]}, ["LDREMO", "4", "END"]),
    ({"basis": INLINE, "charge": 2}, ["99 0", "CHARGED", "END", "DFT"]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), PLACES)
def test_an_option_stands_in_its_block(
    deck: Make, options: dict[str, Any], expected: list[str]
) -> None:
    lines = deck(rocksalt(), options)["d12"].splitlines()
    starts = [lines[i : i + len(expected)] for i in range(len(lines))]
    assert expected in starts


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"optgeom": {}, "eos": {}}, "options.eos", "one task"),
    ({"shrink": [4, 4], "k_spacing_inv_angstrom": 0.2}, "options.shrink", "not both"),
    ({"shrink": [4, 2]}, "options.shrink", "smaller than IS"),
    ({"shrink": [4, 4, 6]}, "options.shrink", "breaks the symmetry"),
    ({"smear_hartree": 0.01}, "options.smear_hartree", "metals"),
    ({"functional": "PBEE"}, "options.functional", "no functional"),
    ({"functional": "LDA/PBE"}, "options.functional", "gradient"),
    ({"functional": "PBESOL", "dispersion": "D3"}, "options.dispersion", "PBESOL-D3"),
    ({"method": "HF", "functional": "PBE"}, "options.functional", "HF has no functional"),
    ({"method": "R2SCANSOL3C", "dispersion": "D3"}, "options.dispersion", "its own"),
    ({"method": "R2SCANSOL3C", "basis": "STO-3G"}, "options.basis", "SOLDEF2MSVP"),
    ({"basis": "NO-SUCH"}, "options.basis", "no basis set library"),
    ({"basis": {"Mg": "STO-3G"}}, "options.basis", "O"),
    ({"basis": {"Mg": "no-such-set", "O": "STO-3G"}}, "options.basis.Mg", "no-such-set"),
    ({"basis": {**INLINE, "Mg": "12 1\n0 0 1 1.0 1.0\n 1.0 1.0\n"}}, "options.basis.Mg", "hold 1"),
    ({"charge": 1}, "options.charge", "inline"),
    ({"charge": 1, "basis": INLINE}, "options.charge", "odd"),
    ({"method": "UHF", "spin": "closed"}, "options.spin", "open shell"),
    ({"spin": {"n_alpha_minus_beta": 1}}, "options.spin.n_alpha_minus_beta", "differ by 1"),
    ({"spin": {"lock_cycles": 3}}, "options.spin.lock_cycles", "difference"),
    ({"spin": {"atom_spins": {"99": 1}}}, "options.spin.atom_spins.99", "no atom 99"),
    ({"extra": ["CRYSTAL"]}, "options.extra.0", "not for extra"),
    ({"extra": ["EXTPRT"]}, "options.extra.0", "both sections"),
    ({"extra": ["NOSUCHWORD"]}, "options.extra.0", "not known"),
    ({"title": "SLAB"}, "options.title", "keyword"),
    ({"freqcalc": {"dispersion": {"supercell": [[2, 0], [0, 2]]}}},
     "options.freqcalc.dispersion.supercell", "3 by 3"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "field", "said"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_field(
    deck: Make, options: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(InvalidParams, match=said) as refused:
        deck(rocksalt(), options)
    assert refused.value.field == field


def test_an_element_that_the_library_lacks_is_named(deck: Make) -> None:
    with pytest.raises(InvalidParams, match="no basis set for U"):
        deck(rocksalt(4.9, "U", "N"))


def test_odd_electrons_in_a_closed_shell(deck: Make) -> None:
    aluminium = crystal([4.05] * 3, ["Al"] * 4, FACES)
    with pytest.raises(InvalidParams, match="13 electrons are an odd number"):
        deck(aluminium, {"spin": "closed"})
    told = deck(aluminium)["report"]["warnings"]
    assert any("odd number" in text for text in told)
    quiet = deck(aluminium, {"metal": True, "smear_hartree": 0.005})["report"]
    assert quiet["warnings"] == []
    assert quiet["shrink"][3] == 2 * quiet["shrink"][0]


def test_a_molecule_takes_no_cell_and_no_mesh(deck: Make) -> None:
    for options, field in (
        ({"optgeom": {"type": "FULLOPTG"}}, "options.optgeom.type"),
        ({"shrink": [4, 4]}, "options.shrink"),
        ({"elastcon": {}}, "options.elastcon"),
        ({"freqcalc": {"dispersion": {"supercell": [[2]]}}}, "options.freqcalc.dispersion"),
    ):
        with pytest.raises(InvalidParams) as refused:
            deck(water(), {"basis": "STO-3G", **options})
        assert refused.value.field == field


def test_the_third_factor_of_a_layer_is_one(deck: Make) -> None:
    graphene = crystal(hexagonal(2.46, 25.0), ["C", "C"], [(1 / 3, 2 / 3, 0), (2 / 3, 1 / 3, 0)])
    with pytest.raises(InvalidParams, match="axes that repeat"):
        deck(graphene, {"shrink": [8, 8, 2]})
    assert deck(graphene, {"shrink": [8, 8, 1]})["report"]["shrink"] == [8, 8, 1, 8]


def test_spins_lower_the_symmetry_and_follow_the_atoms(deck: Make) -> None:
    spins = {"1": 1, "2": 1, "3": -1, "4": -1}
    made = deck(rocksalt(4.17, "Ni", "O"), {"spin": {"atom_spins": spins}})
    lines = made["d12"].splitlines()
    at = lines.index("ATOMSPIN")
    assert made["report"]["group"] == 123
    assert lines[at + 1] == "2"
    assert sorted(int(line.split()[1]) for line in lines[at + 2 : at + 4]) == [-1, 1]
