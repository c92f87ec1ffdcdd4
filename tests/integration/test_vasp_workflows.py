"""Workflows of VASP jobs through the real daemon, with a made-up crystal in place of VASP.

The program (`support.vasp_model`) computes a rock salt whose energy, springs and stiffness were
chosen by hand. So the numbers say nothing of VASP: what is shown is that the procedures, the inputs
they write, units, signs and the order of atoms bring back what was put in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from support import vasp_model as model
from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure, wait_until
from support.vasp import potentials

PATIENCE_S = 240.0
A = 4.27
"""Å; not the lattice constant at rest."""
THZ = 15.633302
"""Of √(eV/(Å² u))."""
SITES = (
    ("O", 1, 0, 0), ("Mg", 0, 0, 0), ("O", 0, 1, 0), ("Mg", 1, 1, 0),
    ("Mg", 1, 0, 1), ("O", 0, 0, 1), ("Mg", 0, 1, 1), ("O", 1, 1, 1),
)  # fmt: skip


def cif(a: float) -> str:
    """Magnesium and oxygen in turn, which POSCAR cannot have."""
    return (
        f"data_mixed\n_cell_length_a {a}\n_cell_length_b {a}\n_cell_length_c {a}\n"
        "_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n"
        "_symmetry_space_group_name_H-M 'P 1'\nloop_\n_atom_site_label\n_atom_site_type_symbol\n"
        "_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n"
        + "".join(f"{s}{i} {s} {x / 2} {y / 2} {z / 2}\n" for i, (s, x, y, z) in enumerate(SITES))
    )


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION, env={"CRYSTALMATH_START_TIMEOUT": "60"})
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What all workflows are asked for with."""
    root = tmp_path_factory.mktemp("vasp")
    return {
        "code": "vasp",
        "structure": {"text": cif(model.A0), "format": "cif"},
        "inputs": {"executable": str(model.program(root / "vasp_std")), "incar": {"ENCUT": 520}},
        "context": {"PMG_VASP_PSP_DIR": str(potentials(root / "psp"))},
    }


def call(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    with RawSocket(served.socket, PATIENCE_S) as raw:
        return raw.data(method, params)


def run(served: Daemon, kind: str, asked: dict[str, Any], **options: Any) -> dict[str, Any]:
    made = call(served, f"workflows.create_{kind}", {**asked, "options": options})
    number = made["workflow"]["id"]
    wait_until(
        lambda: call(served, "workflows.get", {"id": number})["state"] != "RUNNING",
        f"{kind} ends",
        PATIENCE_S,
    )
    found: dict[str, Any] = call(served, "workflows.get", {"id": number})
    assert found["state"] == "COMPLETED", [found["message"], found["graph"]]
    return found


def values(workflow: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in workflow["results"]["quantities"]}


def incar_of(served: Daemon, workflow: dict[str, Any], step: str) -> dict[str, str]:
    job = next(one["job"] for one in workflow["graph"] if one["name"] == step)
    text = call(served, "jobs.read_file", {"id": job, "path": "INCAR"})["text"]
    return model.read_incar(text)


def test_equation_of_state(served: Daemon, given: dict[str, Any]) -> None:
    stretched = {**given, "structure": {"text": cif(A), "format": "cif"}}
    eos = run(served, "eos", stretched, points=5)
    steps = [step["name"] for step in eos["graph"]]
    assert steps[:4] == ["relax", "relax-atoms", "minimum", "volumes"]
    found = values(eos)
    assert found["a_relaxed"] == pytest.approx(model.A0, abs=1e-6)
    assert found["v0"] == pytest.approx(model.V0 / 2, rel=1e-5)
    assert found["b0"] == pytest.approx(model.B0_GPA, rel=1e-3)
    assert found["b0_prime"] == pytest.approx(model.B0_PRIME, abs=0.02)
    assert [flag["code"] for flag in eos["results"]["flags"]] == ["few_points"]
    known = eos["results"]["provenance"]
    assert (known["encut_ev"], known["k_points"]) == ("520.0", "5 5 5 0 0 0")
    assert "PAW_PBE Mg_pv 01Jan2000, SHA-256 " in known["potential_Mg_pv"]
    first, volume = (incar_of(served, eos, step) for step in ("relax", "volume-1"))
    assert (first["ISIF"], first["NSW"], float(first["EDIFFG"])) == ("3", "500", -1e-3)
    assert (volume["NSW"], volume["IBRION"]) == ("0", "-1")
    differing = {"ISIF", "NSW", "IBRION", "EDIFFG"}
    assert {k: v for k, v in first.items() if k not in differing} == {
        k: v for k, v in volume.items() if k not in differing
    }


def test_phonons_have_the_forces_of_their_atoms(served: Daemon, given: dict[str, Any]) -> None:
    phonon = run(served, "phonon", given, relax=False, supercell=[2, 2, 2], mesh=4)
    [table] = [one for one in phonon["results"]["tables"] if one["name"] == "special_points"]
    row = table["columns"][0]["values"].index("Γ")
    at_gamma = [column["values"][row] for column in table["columns"][2:]]
    optical = THZ * math.sqrt(6 * model.SPRING * (1 / 24.305 + 1 / 15.999))
    assert sorted(at_gamma) == pytest.approx([0.0] * 3 + [optical] * 3, rel=1e-4, abs=1e-3)
    moved = incar_of(served, phonon, "displacement-1")
    assert float(moved["EDIFF"]) == 1e-8
    assert moved["LREAL"] == ".FALSE."


def test_elastic_constants_have_the_sign_and_unit_of_the_stress(
    served: Daemon, given: dict[str, Any]
) -> None:
    found = values(run(served, "elastic", given, relax=False, sizes=[0.005]))
    third = model.C11_MINUS_C12_GPA / 3
    assert found["c11"] == pytest.approx(model.B0_GPA + 2 * third, rel=0.02)
    assert found["c12"] == pytest.approx(model.B0_GPA - third, rel=0.02)
    assert found["c44"] == pytest.approx(model.C44_GPA, rel=0.02)


def test_convergence_with_the_cutoff(served: Daemon, given: dict[str, Any]) -> None:
    asked = {**given, "inputs": {**given["inputs"], "incar": {}}}
    series = run(served, "convergence", asked, parameter="cutoff", values=[400.0, 600.0, 700.0])
    [one] = [q for q in series["results"]["quantities"] if q["name"] == "converged"]
    assert (one["value"], one["unit"]) == (600.0, "eV")


def test_what_breaks_a_procedure_or_is_not_built_is_refused(
    served: Daemon, given: dict[str, Any]
) -> None:
    def refused(kind: str, asked: dict[str, Any], **options: Any) -> tuple[str, str | None]:
        with pytest.raises(RpcFailure) as failure:
            call(served, f"workflows.create_{kind}", {**asked, "options": options})
        return failure.value.data["kind"], failure.value.data.get("field")

    broken = {**given, "inputs": {**given["inputs"], "incar": {"NSW": 10}}}
    assert refused("relax", broken) == ("invalid_params", "inputs.incar.NSW")
    assert refused("eos", given, smax_gpa=0.01) == ("invalid_params", "options.smax_gpa")
    for kind in ("bands", "md"):
        assert refused(kind, given) == ("not_implemented", "code")
