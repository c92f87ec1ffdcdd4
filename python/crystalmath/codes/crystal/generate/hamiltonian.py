"""From the options to the Hamiltonian: HF, DFT with its block, a composite method; and its basis.

What the manual would have to confirm is written with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass

from crystalmath.codes.crystal.tables import functionals as table
from crystalmath.contract.d12 import D12Options
from crystalmath.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Hamiltonian:
    """The records of the Hamiltonian.

    Attributes
    ----------
    functional
        In capitals; None unless the method is DFT with a functional.
    library
        The basis set library that the method fixes.
    """

    lines: tuple[str, ...]
    functional: str | None
    library: str | None
    warnings: tuple[str, ...]


def hamiltonian(options: D12Options, *, open_shell: bool) -> Hamiltonian:
    """Write the Hamiltonian.

    Raises
    ------
    InvalidParams
        An unknown functional, a pair that does not belong together, a dispersion correction that
        there is not.
    """
    method = options.method
    if method in table.COMPOSITES:
        return _composite(options, open_shell=open_shell)
    if method in ("HF", "UHF"):
        _refuse_dft_options(options)
        lines = ("UHF",) if method == "UHF" or open_shell else ()
        return Hamiltonian(lines, None, None, ())
    words, name, warnings = _functional(options)
    lines = ("DFT", *(("SPIN",) if open_shell else ()), *words, grid(options), "END")
    return Hamiltonian(lines, name, None, warnings)


def grid(options: D12Options) -> str:
    """The integration grid."""
    if options.grid is not None:
        return options.grid
    fine = options.freqcalc is not None or options.elastcon is not None
    return "XXLGRID" if fine else "XLGRID"


def _refuse_dft_options(options: D12Options) -> None:
    given = options.model_fields_set
    for field in ("functional", "grid"):
        if field in given and getattr(options, field) is not None:
            raise InvalidParams(
                f"{options.method} has no {field}",
                hint="leave it out, or give `options.method: DFT`",
                field=f"options.{field}",
            )
    if options.dispersion == "D3":
        raise InvalidParams(
            f"there is no keyword {options.method}-D3",
            hint="HF3C is Hartree-Fock with a dispersion correction",
            field="options.dispersion",
        )


def _composite(options: D12Options, *, open_shell: bool) -> Hamiltonian:
    method = options.method
    library = table.COMPOSITES[method]
    given = options.model_fields_set
    if "functional" in given:
        raise InvalidParams(
            f"{method} is a functional of its own", hint="leave it out", field="options.functional"
        )
    if options.dispersion == "D3":
        raise InvalidParams(
            f"{method} has its own dispersion correction",
            hint="leave it out",
            field="options.dispersion",
        )
    same = isinstance(options.basis, str) and options.basis.upper() == library.upper()
    if "basis" in given and not same:
        raise InvalidParams(
            f"{method} is made for the basis set {library}",
            hint="leave it out",
            field="options.basis",
        )
    warnings: tuple[str, ...] = ()
    if method not in table.CONFIRMED_COMPOSITES:
        warnings = (
            (
                f"the records of {method} are not confirmed by an output: compare them with the "
                "manual of your version"
            ),
        )
    if method in table.HF_COMPOSITES:
        if "grid" in given and options.grid is not None:
            raise InvalidParams(f"{method} has no grid", hint="leave it out", field="options.grid")
        return Hamiltonian((*(("UHF",) if open_shell else ()), method), None, library, warnings)
    chosen = (options.grid,) if options.grid is not None else ()
    spin = ("SPIN",) if open_shell else ()
    return Hamiltonian(("DFT", *spin, method, *chosen, "END"), None, library, warnings)


def _functional(options: D12Options) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The records, the name in capitals, and what to warn of."""
    name = options.functional.upper()
    wants_d3 = options.dispersion == "D3"
    if name.endswith("-D3"):
        name, wants_d3 = name.removesuffix("-D3"), True
    if name in table.COMPOSITES:
        raise InvalidParams(
            f"{name} is a composite method",
            hint=f"give `options.method: {name}`",
            field="options.functional",
        )
    if wants_d3:
        return _with_d3(name)
    if "/" in name:
        return _pair(name)
    if name in table.PAIRS:
        exchange, correlation = table.PAIRS[name]
        return _paired(exchange, correlation), name, _unconfirmed(name)
    spelled = table.single(name)
    if spelled is None:
        known = ", ".join([*table.PAIRS, *table.SINGLE])
        raise InvalidParams(
            f"{options.functional!r} is no functional that is known here",
            hint=f"one of {known}, or a pair like PBE/LYP",
            field="options.functional",
        )
    return (spelled,), name, _unconfirmed(name)


def _with_d3(name: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    if name not in table.WITH_D3:
        raise InvalidParams(
            f"there is no keyword {name}-D3",
            hint=f"D3 is for {', '.join(sorted(table.WITH_D3))}; for another functional give a "
            "block DFTD3 in `options.extra`",
            field="options.dispersion",
        )
    spelled = table.single(name) or name
    return (f"{spelled}-D3",), name, _unconfirmed(name)


def _pair(name: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    exchange, _, correlation = name.partition("/")
    problem = table.pair_problem(exchange, correlation)
    if problem is not None:
        raise InvalidParams(
            f"{name}: {problem}",
            hint=f"exchange: {', '.join(sorted(table.EXCHANGES))}; correlation: "
            f"{', '.join(sorted(table.CORRELATIONS))}",
            field="options.functional",
        )
    return _paired(exchange, correlation), "PBE", _unconfirmed(name)


def _paired(exchange: str, correlation: str) -> tuple[str, ...]:
    return ("EXCHANGE", exchange, "CORRELAT", correlation)


def _unconfirmed(name: str) -> tuple[str, ...]:
    if name in table.CONFIRMED:
        return ()
    return (
        (
            f"no output at hand confirms how {name} is written: compare it with the manual of "
            "your version"
        ),
    )
