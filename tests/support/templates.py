"""Templates for tests, and everything that fills them in, in this process."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crystalmath.api import GENERATORS, LINTERS
from crystalmath.codes.crystal.generate.deck import generate_deck
from crystalmath.codes.crystal.generate.properties import generate_properties
from crystalmath.contract.d3 import D3Result, GenerateD3Params
from crystalmath.contract.d12 import D12Result, GenerateD12Params
from crystalmath.contract.inputs import GenerateInputsParams, GenerateInputsResult
from crystalmath.runners.slurm.by_hand import batch_words
from crystalmath.services.codes import Linter
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.template_makers import (
    BatchJobs,
    CodeInputs,
    CrystalDecks,
    CrystalProperties,
)
from crystalmath.services.template_rendering import Rendering
from support.espresso import upf

HEAD = """\
id: mine/one
title: One of mine
kind: input
code: crystal
version: 1
"""


def template(parameters: str = "", body: str = "text\n", head: str = HEAD, **more: str) -> str:
    """A template; ``more`` are further lines of the front matter."""
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    if "renders" not in more:
        lines += "renders: [out.txt]\n"
    block = f"parameters:\n{parameters}" if parameters else ""
    return f"---\n{head}{lines}{block}---\n{body}"


def put(folder: Path, name: str, text: str) -> Path:
    """Lay a template into a folder."""
    path = folder / f"{name}.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


class Clusters:
    """One cluster of SLURM and one host without it."""

    def __init__(self) -> None:
        common: dict[str, Any] = {"hostname": "h", "remote_workdir": "/w"}
        self.records = {
            "hpc": ClusterRecord(
                name="hpc",
                kind="slurm",
                queue_name="long",
                account="physics",
                launcher="mpirun",
                setup_commands=("module load crystal",),
                **common,
            ),
            "box": ClusterRecord(name="box", kind="ssh", **common),
        }

    def cluster(self, wanted: str) -> Any:
        from crystalmath.errors import NotFound

        if wanted not in self.records:
            raise NotFound(f"no {wanted}")
        return self._of(wanted)

    def clusters(self) -> list[Any]:
        return [self._of(name) for name in self.records]

    def _of(self, name: str) -> Any:
        from crystalmath.services.ports_cluster import Cluster

        return Cluster(1, self.records[name])


def pseudopotentials(folder: Path) -> dict[str, str]:
    """The environment of somebody who has one of silicon and one of iron, as far as headers go."""
    (folder / "Si.upf").write_text(upf("Si", wfc_ry=30, rho_ry=120))
    (folder / "Fe.upf").write_text(upf("Fe", kind="US", valence=8, wfc_ry=40, rho_ry=400))
    return {"ESPRESSO_PSEUDO": str(folder)}


def _run(function: str, kwargs: Mapping[str, Any], _deadline_s: float) -> Any:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**kwargs)


def _generate(params: GenerateD12Params) -> D12Result:
    structure = params.structure.model_dump(exclude_none=True)
    options = params.options.model_dump(mode="json", exclude_unset=True)
    return D12Result.model_validate(generate_deck(structure, options))


def _generate_properties(params: GenerateD3Params) -> D3Result:
    deck = params.deck.model_dump(mode="json")
    options = params.options.model_dump(mode="json", exclude_unset=True)
    return D3Result.model_validate(generate_properties(deck, options))


def _generate_inputs(params: GenerateInputsParams) -> GenerateInputsResult:
    given = params.model_dump(exclude={"code", "structure"})
    structure = params.structure.model_dump(exclude_none=True)
    made = _run(GENERATORS[params.code], {"structure": structure, **given}, 0.0)
    return GenerateInputsResult.model_validate(made)


def rendering(folder: Path) -> Rendering:
    """What the daemon has, without its workers."""
    return Rendering(
        _run,
        str(folder),
        {
            "crystal_deck": CrystalDecks(_generate),
            "crystal_properties": CrystalProperties(_generate_properties),
            "code_inputs": CodeInputs(_generate_inputs),
            "batch_job": BatchJobs(Clusters(), batch_words),  # type: ignore[arg-type]
        },
        {**LINTERS, "bash": Linter((".sh",), "crystalmath.templates.shell:lint_script")},
    )
