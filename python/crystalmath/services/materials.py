"""``materials.*``: what a structure is, the same structure in another format, structures to keep.

Everything that needs numbers runs in a warm worker process; here is only who asks for what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from crystalmath.contract.d3 import D3Result, GenerateD3Params
from crystalmath.contract.d12 import D12Result, GenerateD12Params
from crystalmath.contract.inputs import GenerateInputsParams, GenerateInputsResult
from crystalmath.contract.jobs import StructureIn
from crystalmath.contract.material_search import (
    GetMaterialParams,
    MaterialDetail,
    MaterialFound,
    ProviderRow,
    ProvidersMeta,
    SearchMeta,
    SearchParams,
)
from crystalmath.contract.materials import (
    ConvertParams,
    ConvertResult,
    ImportStructureParams,
    ImportStructureResult,
    InspectParams,
    InspectResult,
    MaterialStored,
)
from crystalmath.contract.rpc import Call, Listing, NoParams, rpc
from crystalmath.domain.material_query import LOCAL
from crystalmath.errors import InputRejected, InvalidParams, MaterialsError, NotFound
from crystalmath.services.material_search import MaterialSearch
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import (
    Material,
    MaterialStore,
    NewMaterial,
)
from crystalmath.services.structure_in import StructureInputs

INSPECT: Final = "crystalmath.structures.report:inspect_structure"
MATERIAL: Final = "crystalmath.structures.report:material_of"
CONVERT: Final = "crystalmath.structures.convert:convert_structure"
WORK_S: Final = 50.0
"""Seconds for one structure, below the deadline of the methods."""


class MaterialsService:
    """Describes, converts and keeps structures.

    Parameters
    ----------
    structures
        Finds what a request names.
    run
        Runs a function in a worker process.
    clock
        Seconds since 1970.
    generate_d12, generate_d3
        The functions that make CRYSTAL decks in a worker process: of wave functions, of properties.
    generators
        Code → the function that makes its input files in a worker process.
    """

    def __init__(
        self,
        structures: StructureInputs,
        store: MaterialStore,
        run: RunWorker,
        clock: Callable[[], float],
        generate_d12: str = "",
        generate_d3: str = "",
        *,
        search: MaterialSearch,
        generators: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._structures = structures
        self._store = store
        self._run = run
        self._clock = clock
        self._generate_d12 = generate_d12
        self._generate_d3 = generate_d3
        self._search = search
        self._generators = generators

    @rpc(errors=(InputRejected,), lane="net", read_only=True, deadline_s=90.0)
    def search(self, params: SearchParams, call: Call) -> Listing[MaterialFound, SearchMeta]:
        """Look for structures at all providers at once; equal ones are joined.

        A provider that does not answer is no error: `meta.providers` tells how each of them did.
        Ask one provider a call to have its answer as soon as it is there.
        """
        return self._search.search(params, call)

    @rpc(
        errors=(NotFound, InputRejected, MaterialsError),
        lane="net",
        read_only=True,
        deadline_s=90.0,
    )
    def get(self, params: GetMaterialParams, call: Call) -> MaterialDetail:
        """One structure of a provider with its atoms; kept here, it needs no network again."""
        return self._search.get(params, call)

    @rpc(lane="inline", read_only=True)
    def providers(self, params: NoParams) -> Listing[ProviderRow, ProvidersMeta]:
        """Who can be asked for structures, in the order of preference."""
        return self._search.providers()

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def inspect(self, params: InspectParams) -> InspectResult:
        """Tell what a structure is: dimensions, symmetry, sites, neighbours, warnings.

        Nothing is idealised; the group is that of the tolerance, and that of a tenth of it is named
        when it is another one.
        """
        found = self._run(
            INSPECT,
            {
                "structure": self._structures.given(params.structure),
                "symprec_angstrom": params.symprec_angstrom,
                "dimension": params.dimension,
                "atoms": params.atoms,
            },
            WORK_S,
        )
        return InspectResult.model_validate(found)

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def convert(self, params: ConvertParams) -> ConvertResult:
        """Write a structure in another format, as it is given or in a standard cell."""
        found = self._run(
            CONVERT,
            {
                "structure": self._structures.given(params.structure),
                "format": params.format,
                "cell": params.cell,
                "symprec_angstrom": params.symprec_angstrom,
                "vacuum_angstrom": params.vacuum_angstrom,
            },
            WORK_S,
        )
        return ConvertResult.model_validate({**found, "format": params.format})

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def generate_d12(self, params: GenerateD12Params) -> D12Result:
        """Write a CRYSTAL deck for a structure.

        The deck is read back, expanded and compared with the structure before it is returned; a
        deck that would be another crystal is refused.
        """
        options = params.options.model_dump(mode="json", exclude_unset=True)
        found = self._run(
            self._generate_d12,
            {"structure": self._structures.given(params.structure), "options": options},
            WORK_S,
        )
        return D12Result.model_validate(found)

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def generate_d3(self, params: GenerateD3Params) -> D3Result:
        """Write a deck for the properties of a wave function: bands, density of states, records.

        What is asked for is compared with the deck of the wave function: its axes, its mesh, its
        atoms and its orbitals.
        """
        given = {
            "deck": params.deck.model_dump(mode="json"),
            "options": params.options.model_dump(mode="json", exclude_unset=True),
        }
        return D3Result.model_validate(self._run(self._generate_d3, given, WORK_S))

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def generate_inputs(self, params: GenerateInputsParams) -> GenerateInputsResult:
        """Write the input files of a code for a structure; nothing is stored and nothing runs.

        Files that are copied, like pseudopotentials, are named by their place on this machine. The
        report tells what was chosen and why.
        """
        generator = self._generators.get(params.code)
        if generator is None:
            raise InvalidParams(
                f"no input files are written for the code {params.code}",
                hint=f"for {', '.join(sorted(self._generators)) or 'no code'} they are; CRYSTAL "
                "has `materials.generate_d12`",
                field="code",
            )
        given = {
            "structure": self._structures.given(params.structure),
            "options": params.options,
            "task": params.task,
            "context": {str(name): value for name, value in params.context.items()},
            "in_place": params.in_place,
        }
        return GenerateInputsResult.model_validate(self._run(generator, given, WORK_S))

    @rpc(errors=(InputRejected,), lane="proc", deadline_s=60.0, wire_name="materials.import")
    def import_structure(self, params: ImportStructureParams) -> ImportStructureResult:
        """Keep a structure, to be used by name in jobs; the same one twice is kept once."""
        given = StructureIn(path=params.path, text=params.text, format=params.format)
        try:
            found = self._run(MATERIAL, {"structure": self._structures.given(given)}, WORK_S)
        except InputRejected as error:  # here the fields stand by themselves
            field = (error.field or "").removeprefix("structure.")
            raise type(error)(error.message, hint=error.hint, field=field or None) from None
        structure, fingerprint = found["structure"], found["fingerprint"]
        group = None if fingerprint is None else fingerprint["space_group"]
        stored, known = self._store.add_material(
            NewMaterial(
                name=params.name or structure["formula"],
                formula=structure["formula"],
                n_atoms=len(structure["symbols"]),
                space_group=group or None,
                content_hash=found["content_hash"],
                fingerprint=fingerprint,
                structure=structure,
            ),
            self._clock(),
        )
        return ImportStructureResult(
            material=_stored(stored, found["cell_formula"]),
            known=known,
            warnings=structure["warnings"],
        )


def _stored(material: Material, cell_formula: str) -> MaterialStored:
    return MaterialStored(
        material=f"{LOCAL}:{material.id}",
        name=material.name,
        formula=material.formula,
        cell_formula=cell_formula,
        n_atoms=material.n_atoms,
        space_group=material.space_group,
        content_hash=material.content_hash,
        created_at=datetime.fromtimestamp(material.created_at, UTC),
    )
