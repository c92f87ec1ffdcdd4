"""The templates of the program: each renders with its defaults to what its linter passes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.contract.templates import RenderResult, TemplateRow
from crystalmath.errors import InputRejected
from crystalmath.templates.shelf import SHIPPED, list_templates
from support.templates import pseudopotentials, rendering

NOWHERE = Path("/nonexistent")
ROWS = {row["id"]: row for row in list_templates(str(NOWHERE))}
DECKS = ("dos_bands", "elastic", "eos", "freq", "molecule", "opt", "scf", "slab_scf")
ESPRESSO = ("bands", "md", "nscf_dos", "ph", "relax", "scf", "vc_relax")
VASP = ("bands", "dos", "md", "relax", "static")
LINTS = {"job": "bash", "crystal": "crystal", "vasp": "vasp", "espresso": None}
"""Decks of pw.x are checked by what writes them."""
SCRIPTS = ("local", "slurm_array", "slurm_gpu", "slurm_mpi", "slurm_serial")


def render(template: str, **parameters: Any) -> RenderResult:
    return rendering(NOWHERE).render(template, parameters)


def text(template: str, **parameters: Any) -> str:
    return render(template, **parameters).files[0].content


def test_every_file_is_a_template_and_the_set_is_whole() -> None:
    groups = {"crystal": DECKS, "espresso": ESPRESSO, "job": SCRIPTS, "vasp": VASP}
    assert sorted(ROWS) == [f"{group}/{name}" for group, names in groups.items() for name in names]
    assert len(list(SHIPPED.rglob("*.j2"))) == len(ROWS)
    for row in ROWS.values():
        assert row["problem"] is None
        assert TemplateRow.model_validate(row).description
        jsonschema.Draft202012Validator.check_schema(row["parameters"])


@pytest.mark.parametrize("name", ROWS)
def test_every_default_renders_and_is_linted(name: str, tmp_path: Path) -> None:
    made = rendering(NOWHERE).render(name, {}, context=pseudopotentials(tmp_path))
    assert made.findings == []
    assert ROWS[name]["lint"] == LINTS[name.split("/", maxsplit=1)[0]]
    for file in made.files:
        assert file.content.endswith("\n")
        assert "\r" not in file.content
        assert "\n\n\n" not in file.content
    jsonschema.validate(
        {k: v for k, v in made.parameters.items() if v is not None}, ROWS[name]["parameters"]
    )


@pytest.mark.parametrize("name", DECKS)
def test_decks_have_the_block_of_their_name(name: str) -> None:
    block = {"dos_bands": "BASISSET", "elastic": "ELASTCON", "eos": "EOS", "freq": "FREQCALC"}
    block |= {"molecule": "MOLECULE", "opt": "OPTGEOM", "scf": "SHRINK", "slab_scf": "SLAB"}
    lines = text(f"crystal/{name}").splitlines()
    assert block[name] in lines
    assert not parse_deck("\n".join(lines)).findings


def test_an_example_is_said_to_be_one() -> None:
    assert render("crystal/scf").warnings[0].startswith("structure was not given")
    water = {"format": "xyz", "text": "3\n\nO 0 0 0.1\nH 0 0.76 -0.5\nH 0 -0.76 -0.5\n"}
    assert "not given" not in " ".join(render("crystal/molecule", structure=water).warnings)


@pytest.mark.parametrize(
    ("name", "given", "lines"),
    [
        ("crystal/scf", {"functional": "HSE06", "toldee": 9}, ["HSE06", "TOLDEE\n9"]),
        ("crystal/scf", {"metal": True, "smear_hartree": 0.005}, ["SMEAR\n0.005"]),
        ("crystal/scf", {"title": "my own", "spin": "open"}, ["my own\nCRYSTAL", "SPIN"]),
        ("crystal/opt", {"type": "CVOLOPT"}, ["OPTGEOM\nCVOLOPT"]),
        ("crystal/opt", {"toldeg": 1e-5}, ["TOLDEG\n0.00001"]),
        ("crystal/freq", {"intens": True}, ["INTENS"]),
        ("crystal/freq", {"optimise_first": False}, ["FREQCALC\nNUMDERIV\n2\nEND"]),
        ("crystal/elastic", {"optimise_first": False}, ["ELASTCON\nNUMDERIV\n3\nEND"]),
        ("crystal/eos", {"points": 7, "optimise_first": False}, ["EOS\nRANGE\n0.94 1.06 7\nEND"]),
        ("crystal/molecule", {"optimise": True}, ["OPTGEOM"]),
        ("crystal/slab_scf", {"basis": "STO-3G"}, ["SLAB\n78", "STO-3G"]),
    ],
)  # fmt: skip
def test_parameters_reach_the_deck(name: str, given: dict[str, Any], lines: list[str]) -> None:
    made = text(name, **given)
    for line in lines:
        assert f"\n{line}\n" in f"\n{made}", made


def test_bands_and_density_of_states() -> None:
    deck, properties = render("crystal/dos_bands", last_band=18, band_points=100).files
    assert (deck.path, properties.path) == ("bands.d12", "bands.d3")
    assert (
        deck.content.splitlines()[-13:-11] == ["SHRINK", "9 9"] or "SHRINK\n9 9\n" in deck.content
    )
    lines = properties.content.splitlines()
    assert lines[0] == "BAND"
    assert lines[2].split()[2:] == ["100", "1", "18", "1", "0"]
    assert {"NEWK", "18 18", "DOSS", "0 1000 1 18 1 14 0"} <= set(lines)
    own = render("crystal/dos_bands", path="GX").files[1]
    assert own.content.splitlines()[2].startswith("1 ")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"path": "GQ"}, "parameters.path"),
        ({"path": "gamma"}, "parameters.path"),
        ({"first_band": 5, "last_band": 4}, "parameters"),
    ],
)
def test_paths_that_do_not_fit_are_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InputRejected) as caught:
        render("crystal/dos_bands", **given)
    assert caught.value.field == field


def test_scripts_take_what_the_cluster_says() -> None:
    made = text("job/slurm_mpi", cluster="hpc", ntasks=8, nodes=2, memory_mib=4000)
    for line in (
        *("#SBATCH --nodes=2", "#SBATCH --ntasks=8", "#SBATCH --mem=4000M"),
        *("#SBATCH --partition=long", "#SBATCH --account=physics", "#SBATCH --time=0-01:00:00"),
        *("module load crystal", "mpirun -n 8 hostname"),
    ):
        assert line in made.splitlines()
    assert "#SBATCH --partition=short" in text("job/slurm_mpi", cluster="hpc", partition="short")
    assert "srun --ntasks=4 --cpus-per-task=1 hostname" in text("job/slurm_mpi")
    assert "#SBATCH --gres=gpu:a100:2" in text("job/slurm_gpu", gpus="a100:2")
    assert "#SBATCH --array=1-9%3" in text("job/slurm_array", array="1-9%3")


def test_names_are_one_word_of_the_shell() -> None:
    made = render("job/slurm_serial", name="it's $(mine)")
    assert made.files[0].path == "it's $(mine).sh"
    assert "#SBATCH --job-name='it'\"'\"'s $(mine)'" in made.files[0].content
    assert made.findings == []


def test_a_command_that_no_shell_reads_is_found() -> None:
    made = render("job/slurm_serial", command="echo 'open")
    assert [(f.path, f.severity, f.code) for f in made.findings] == [
        ("serial.sh", "error", "syntax")
    ]
    assert made.warnings[-1].startswith("serial.sh line ")


def test_the_local_script_runs(tmp_path: Path) -> None:
    command = "sh -c 'echo $OMP_NUM_THREADS; exit 3'"
    for given in ({}, {"walltime_s": 60.0}):
        made = render("job/local", command=command, cpus_per_task=2, name="my run", **given)
        path = tmp_path / made.files[0].path
        path.write_text(made.files[0].content)
        assert subprocess.run(["bash", path], check=False, cwd="/").returncode == 3
        assert (tmp_path / "my run.log").read_text() == "2\n"
