"""The templates of Quantum ESPRESSO and VASP: what their parameters become, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.vasp.deck.incar import parse_incar
from crystalmath.contract.jobs import SubmitParams
from crystalmath.contract.templates import RenderResult
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.template_inputs import SubmittedTemplates
from support.templates import pseudopotentials, rendering

NOWHERE = Path("/nonexistent")
IRON = {"format": "poscar", "text": "Fe\n1.0\n2.87 0 0\n0 2.87 0\n0 0 2.87\nFe\n2\nDirect\n"
        "0 0 0\n0.5 0.5 0.5\n"}  # fmt: skip
CAESIUM_CHLORIDE = {"format": "poscar", "text": "CsCl\n1.0\n4.1 0 0\n0 4.1 0\n0 0 4.1\nCs Cl\n1 1\n"
                    "Direct\n0 0 0\n0.5 0.5 0.5\n"}  # fmt: skip


@pytest.fixture
def context(tmp_path: Path) -> dict[str, str]:
    return pseudopotentials(tmp_path)


def render(template: str, context: dict[str, str], **parameters: Any) -> RenderResult:
    return rendering(NOWHERE).render(template, parameters, context=context)


def deck(template: str, context: dict[str, str], **parameters: Any) -> Deck:
    return parse_deck(render(f"espresso/{template}", context, **parameters).files[0].content)


def incar(template: str, **parameters: Any) -> dict[str, str]:
    return parse_incar(render(f"vasp/{template}", {}, **parameters).files[0].content)[0]


@pytest.mark.parametrize(
    ("name", "calculation", "given", "namelist", "values"),
    [
        ("scf", "scf", {"ecutwfc_ry": 25, "degauss_ry": 0.01}, "system",
         {"ecutwfc": 25, "occupations": "smearing", "degauss": 0.01}),
        ("scf", "scf", {"structure": IRON, "moments_mu_b": "Fe = 3"}, "system",
         {"nspin": 2, "starting_magnetization(1)": 0.375, "ecutrho": 400}),
        ("relax", "relax", {"max_steps": 30}, "control", {"nstep": 30}),
        ("vc_relax", "vc-relax", {"pressure_gpa": 2.0, "cell": "isotropic"}, "cell",
         {"press": 20, "cell_dofree": "all"}),
        ("nscf_dos", "nscf", {"n_bands": 12}, "system", {"occupations": "tetrahedra", "nbnd": 12}),
        ("bands", "bands", {"smearing": "gaussian"}, "system", {"smearing": "gaussian"}),
        ("md", "md", {"ensemble": "nve", "steps": 7}, "control", {"nstep": 7}),
    ],
)  # fmt: skip
def test_parameters_reach_the_deck(
    context: dict[str, str],
    name: str,
    calculation: str,
    given: dict[str, Any],
    namelist: str,
    values: dict[str, Any],
) -> None:
    made = deck(name, context, **given)
    assert made.calculation == calculation
    assert {key: made.value(namelist, key) for key in values} == values
    # read by hand and by a job alike: the files are not beside the deck
    assert made.value("control", "pseudo_dir") == context["ESPRESSO_PSEUDO"]


def test_a_phonon_template_has_both_decks(context: dict[str, str]) -> None:
    scf, ph = render("espresso/ph", context, q_point="0.5, 0.5 0.5", tr2_ph=1e-15).files
    assert (scf.path, ph.path) == ("phonons.scf.in", "phonons.ph.in")
    assert parse_deck(scf.content).value("electrons", "conv_thr") == 1e-12
    assert "tr2_ph = 1d-15" in ph.content
    assert "epsil = .true." in render("espresso/ph", context, epsil=True).files[1].content


def test_parameters_reach_incar() -> None:
    tags = incar("static", encut_ev=600, incar="ISMEAR = 0\nSIGMA = 0.1; MAGMOM = 2*0.1")
    assert tags["ENCUT"] == "600"
    assert (tags["ISMEAR"], tags["SIGMA"], tags["MAGMOM"]) == ("0", "0.1", "2*0.1")
    assert incar("static", encut_ev=600, incar="ENCUT = 700")["ENCUT"] == "700"
    tags = incar("relax", fmax_ev_per_a=0.02, max_steps=12, cell="fixed")
    assert (tags["EDIFFG"], tags["NSW"], tags["ISIF"]) == ("-0.02", "12", "2")
    tags = incar("md", ensemble="nve", temperature_k=500)
    assert (tags["IBRION"], tags["SMASS"], tags["TEBEG"]) == ("0", "-3", "500")
    assert "TEEND" not in tags
    made = render("vasp/dos", {}, potcars="Si=Si_sv", potcar_functional="PBE_54")
    assert made.files[-1].content == "# PBE_54\nSi_sv\n"
    assert [file.path for file in made.files] == ["INCAR", "KPOINTS", "POSCAR", "POTCAR.spec"]


@pytest.mark.parametrize(
    ("name", "given", "has_kpoints"),
    [
        ("static", {"set": "MatPESStaticSet"}, False),
        ("static", {"set": "MatPESStaticSet", "k_spacing_inv_angstrom": 0.3}, True),
        ("relax", {"set": "MP24RelaxSet"}, False),
        ("relax", {"set": "MVLSlabSet"}, True),
    ],
)
def test_there_are_k_points_in_one_place(
    name: str, given: dict[str, Any], has_kpoints: bool
) -> None:
    made = render(f"vasp/{name}", {}, **given)
    assert ("KPOINTS" in [file.path for file in made.files]) == has_kpoints
    assert ("KSPACING" in made.files[0].content) != has_kpoints


def test_the_linter_reads_incar() -> None:
    made = render("vasp/static", {}, incar="NPAR = 0")
    assert [(found.path, found.code) for found in made.findings] == [("INCAR", "npar")]


@pytest.mark.parametrize(
    ("name", "given", "field", "words"),
    [
        ("espresso/scf", {"structure": CAESIUM_CHLORIDE}, "parameters.pseudos.Cs", "for Cs"),
        ("espresso/scf", {"pseudos": "Si"}, "parameters.pseudos", "no NAME=VALUE"),
        ("espresso/scf", {"pseudos": "Si=a, Si=b"}, "parameters.pseudos", "twice"),
        ("espresso/scf", {"moments_mu_b": "Si=many"}, "parameters.moments_mu_b", "no number"),
        ("espresso/scf", {"pseudo_family": "nope"}, "parameters.pseudos.Si", "of the family nope"),
        ("espresso/scf", {"smearing": "cold"}, "parameters.smearing", "must be one of"),
        ("espresso/ph", {"q_point": "0 0 x"}, "parameters.q_point", "no number"),
        ("espresso/ph", {"epsil": True, "q_point": "0 0 0.5"}, "parameters.epsil", "at Γ"),
        ("espresso/vc_relax", {"smax_gpa": 0.0}, "parameters.smax_gpa", "at least"),
        ("vasp/static", {"incar": "encut = 3"}, "parameters.incar.encut", "upper case"),
        ("vasp/static", {"potcars": "Mg=Mg_pv"}, "parameters.potcars.Mg", "no Mg"),
        ("vasp/md", {"set": "MPStaticSet"}, "parameters.set", "no parameter set"),
    ],
)
def test_complaints_are_at_the_parameter(
    context: dict[str, str], name: str, given: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InputRejected, match=words) as caught:
        render(name, context, **given)
    assert caught.value.field == field
    assert "`options." not in f"{caught.value.message}{caught.value.hint}"


def test_where_pseudopotentials_are_has_to_be_known() -> None:
    with pytest.raises(InputRejected, match="no pseudopotential for Si") as caught:
        render("espresso/scf", {})
    assert "ESPRESSO_PSEUDO" in (caught.value.hint or "")
    with pytest.raises(InvalidParams, match="relative") as caught_too:
        render("espresso/scf", {"ESPRESSO_PSEUDO": "upf"})
    assert caught_too.value.field == "context.ESPRESSO_PSEUDO"
    submission = SubmitParams.model_validate(
        {
            "name": "si",
            "code": "espresso",
            "template": "espresso/scf",
            "template_parameters": {"structure": IRON},
            "context": {"ESPRESSO_PSEUDO": "upf"},
        }
    )
    with pytest.raises(InvalidParams, match="relative") as last:
        SubmittedTemplates(rendering(NOWHERE))(submission)
    assert last.value.field == "context.ESPRESSO_PSEUDO"


def test_what_a_template_lacks_is_named_as_a_submission_has_it(context: dict[str, str]) -> None:
    other = Path(context["ESPRESSO_PSEUDO"]) / "Fe.other.upf"
    other.write_text((other.parent / "Fe.upf").read_text())
    submission = SubmitParams.model_validate(
        {
            "name": "fe",
            "code": "espresso",
            "template": "espresso/scf",
            "template_parameters": {"structure": IRON, "ecutwfc_ry": 40.0},
            "context": context,
        }
    )
    with pytest.raises(InputRejected, match="which pseudopotential for Fe") as caught:
        SubmittedTemplates(rendering(NOWHERE))(submission)
    assert caught.value.field == "template_parameters.pseudos.Fe"
    wanted = "give `template_parameters.pseudos.Fe` or `template_parameters.pseudo_family`"
    assert caught.value.hint == wanted
