"""Runs of VASP for the tests: a vasprun.xml as VASP lays it out, and potentials without content.

The numbers are made up and serve to be found again; no text of VASP or of its potentials is here.
What stands in for a potential has a title and nothing else, and the program that stands in for VASP
computes nothing: it proves staging and reading only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

MGO: Final = {
    "lattice": ((0.0, 2.1, 2.1), (2.1, 0.0, 2.1), (2.1, 2.1, 0.0)),
    "symbols": ("Mg", "O"),
    "fractions": ((0.0, 0.0, 0.0), (0.5, 0.5, 0.5)),
}
TITLES: Final = ("PAW_PBE Mg_pv 01Jan2000", "PAW_PBE O 01Jan2000")
INCAR: Final = "ENCUT = 520 ! eV\nEDIFF = 1e-5; ISMEAR = 0\nSIGMA = 0.05\nNSW = 0\n"
POSCAR: Final = "MgO\n1.0\n0 2.1 2.1\n2.1 0 2.1\n2.1 2.1 0\nMg O\n1 1\nDirect\n0 0 0\n0.5 0.5 0.5\n"
KPOINTS: Final = "mesh\n0\nGamma\n4 4 4\n0 0 0\n"


def potentials(
    root: Path, labels: Sequence[str] = ("Mg_pv", "O"), folder: str = "potpaw_PBE"
) -> Path:
    """A directory of potentials that have titles and no content."""
    for label in labels:
        place = root / folder / label
        place.mkdir(parents=True, exist_ok=True)
        (place / "POTCAR").write_text(potential(label))
    return root


def potential(label: str) -> str:
    """What stands in for a potential: its title, and the cutoff that it asks for."""
    title = f"PAW_PBE {label} 01Jan2000"
    return (
        f"  {title}\n stand-in\n   TITEL  = {title}\n   ENMAX  =  400.000; ENMIN  =  300.000 eV\n"
    )


def step(
    energies: Sequence[float] = (-10.0, -12.0, -12.03),
    *,
    force: float = 0.01,
    kbar: float = 5.0,
    lattice: Any = MGO["lattice"],
    fractions: Any = MGO["fractions"],
    levels: bool = True,
) -> str:
    """One ionic step: the free energy is the last of the electronic ones."""
    loops = "".join(
        f'<scstep><time name="dav">0.1 0.1</time><energy><i name="e_fr_energy"> {e:.8f} </i>'
        f'<i name="e_wo_entrp"> {e + 0.02:.8f} </i><i name="e_0_energy"> {e + 0.01:.8f} </i>'
        "</energy></scstep>"
        for e in energies
    )
    diagonal = [[kbar if i == j else 0.0 for j in range(3)] for i in range(3)]
    stress = "".join("<v>" + " ".join(str(x) for x in row) + "</v>" for row in diagonal)
    return (
        f"<calculation>{loops}{structure(lattice, fractions)}"
        f'<varray name="forces"><v> 0.0 0.0 {force} </v><v> 0.0 0.0 {-force} </v></varray>'
        f'<varray name="stress">{stress}</varray>'
        f'<energy><i name="e_fr_energy"> {energies[-1]:.8f} </i>'
        f'<i name="e_wo_entrp"> {energies[-1]:.8f} </i><i name="e_0_energy"> 0.00100000 </i>'
        "</energy>" + (_levels() if levels else "") + "</calculation>\n"
    )


def structure(lattice: Any, fractions: Any, name: str = "") -> str:
    named = f' name="{name}"' if name else ""
    cell = "".join("<v>" + " ".join(f"{x:.8f}" for x in row) + "</v>" for row in lattice)
    places = "".join("<v>" + " ".join(f"{x:.8f}" for x in row) + "</v>" for row in fractions)
    return (
        f'<structure{named}><crystal><varray name="basis">{cell}</varray></crystal>'
        f'<varray name="positions">{places}</varray></structure>'
    )


def _levels() -> str:
    """Two k points, of which the second has the highest occupied and the lowest empty level."""
    points = (((-5.0, 1.0), (0.5, 1.0), (5.5, 0.0)), ((-4.0, 1.0), (1.0, 1.0), (5.25, 0.0)))
    sets = "".join(
        f'<set comment="kpoint {k}">'
        + "".join(f"<r> {e:.4f} {o:.4f} </r>" for e, o in levels)
        + "</set>"
        for k, levels in enumerate(points, start=1)
    )
    return (
        '<eigenvalues><array><dimension dim="1">band</dimension>'
        '<dimension dim="2">kpoint</dimension><dimension dim="3">spin</dimension>'
        f'<field>eigene</field><field>occ</field><set><set comment="spin 1">{sets}</set></set>'
        '</array></eigenvalues><dos><i name="efermi"> 3.2500 </i></dos>'
    )


def _typed(value: Any) -> str:
    return ' type="int"' if isinstance(value, int) else ""


def vasprun(*steps: str, final: Any = MGO, **parameters: Any) -> str:
    """A whole vasprun.xml."""
    values: Mapping[str, Any] = {
        "NELM": 60, "NSW": 0, "IBRION": -1, "ISIF": 2, "ENMAX": 520.0, "NBANDS": 3, "NELECT": 8.0,
        "ISPIN": 1, "ICHARG": 2, "EDIFF": 1e-5,
    } | parameters  # fmt: skip
    given = "".join(f'<i{_typed(v)} name="{k}"> {v} </i>' for k, v in values.items())
    atoms = "".join(f"<rc><c>{s} </c><c> {i} </c></rc>" for i, s in enumerate(MGO["symbols"], 1))
    types = "".join(
        f"<rc><c> 1</c><c>{s} </c><c> 1.0</c><c> 4.0</c><c> {t} </c></rc>"
        for s, t in zip(MGO["symbols"], TITLES, strict=True)
    )
    return (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<modeling>\n<generator>\n'
        '<i name="program" type="string">vasp </i>\n<i name="version" type="string">6.4.2  </i>\n'
        '<i name="date" type="string">2026 01 01 </i>\n</generator>\n'
        '<incar><i type="string" name="ALGO"> Normal</i></incar>\n'
        '<kpoints><varray name="kpointlist"><v> 0.0 0.0 0.0 </v><v> 0.5 0.0 0.0 </v></varray>'
        '<varray name="weights"><v> 0.5 </v><v> 0.5 </v></varray></kpoints>\n'
        f'<parameters><separator name="general">{given}</separator></parameters>\n'
        f"<atominfo><atoms> 2 </atoms><types> 2 </types>"
        '<array name="atoms"><dimension dim="1">ion</dimension><field type="string">element</field>'
        f'<field type="int">atomtype</field><set>{atoms}</set></array>'
        '<array name="atomtypes"><dimension dim="1">type</dimension>'
        '<field type="int">atomspertype</field><field type="string">element</field>'
        '<field>mass</field><field>valence</field><field type="string">pseudopotential</field>'
        f"<set>{types}</set></array></atominfo>\n"
        + structure(MGO["lattice"], MGO["fractions"], "initialpos")
        + "\n"
        + "".join(steps or (step(),))
        + structure(final["lattice"], final["fractions"], "finalpos")
        + "\n</modeling>\n"
    )


def stand_in(path: Path, text: str | None = None, code: int = 0) -> Path:
    """A program in place of VASP: it looks for its inputs and leaves a vasprun.xml made here."""
    source = path.with_suffix(".xml")
    source.write_text(vasprun() if text is None else text)
    path.write_text(
        "#!/bin/sh\n# stands in for VASP: computes nothing\n"
        "for f in INCAR POSCAR POTCAR; do [ -s $f ] || { echo missing $f; exit 3; }; done\n"
        "grep TITEL POTCAR > titles.txt\n"
        f"cp '{source}' vasprun.xml\n"
        "echo ' vasp.6.4.2 stand-in' > OUTCAR\n"
        "echo ' General timing and accounting informations for this job:' >> OUTCAR\n"
        f"exit {code}\n"
    )
    path.chmod(0o755)
    return path
