"""Frequencies, intensities, thermodynamics and elastic constants of an output."""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import behind, first, numbers
from crystalmath.codes.crystal.output.run import Elastic, Mode, Run

_MODE: Final = re.compile(
    r"^ *(\d+)- *(\d+) +(\S+) +(-?[\d.]+) +(-?[\d.]+) +\( *([^)]*?) *\)"
    r"(?: +([AI]) +(?:\( *([^)]*?) *\))? *([AI])?)?"
)
# Rows of Raman intensities: no real output at hand has one; confirm.
_RAMAN: Final = re.compile(r"^ *(\d+)- *(\d+) +-?[\d.]+ *\([^)]*\) +(\S+) +(\S+) +(\S+)")
_RAMAN_NAMES: Final = ("total", "parallel", "perpendicular")
_MODULI: Final = ("K_voigt", "G_voigt", "K_reuss", "G_reuss", "K_hill", "G_hill", "E_hill")
_UNIT: Final = re.compile(r"\bIN +(\S+)")
MAX_MODES: Final = 60_000


@at("FREQUENCY CALCULATION", "INFORMATION **** INPFREQ ****")
def _on_frequencies(run: Run, _line: str) -> None:
    run.frequencies_asked = True


@at("MODES         EIGV")
def _on_modes(run: Run, _line: str) -> Taker:
    run.frequencies_asked = True
    # A second table (LO modes, another q point) does not replace the first.
    first_table = not run.modes

    def take(line: str) -> bool:
        row = _MODE.match(line)
        if row is None:
            return bool(line.strip()) and "CM**-1" in line
        if first_table and len(run.modes) < MAX_MODES:
            run.modes.append(_mode(row))
        return True

    return take


def _mode(row: re.Match[str]) -> Mode:
    def active(letter: str | None) -> bool | None:
        return None if letter is None else letter == "A"

    intensity = None if row[8] is None else first(row[8])
    return Mode(
        int(row[1]),
        int(row[2]),
        float(row[4]),
        float(row[5]),
        irrep=row[6] or None,
        ir_active=active(row[7]),
        ir_km_per_mol=intensity,
        raman_active=active(row[9]),
    )


@at("POLYCRYSTALLINE ISOTROPIC INTENSITIES")
def _on_raman(run: Run, _line: str) -> Taker:
    groups = {mode.first: mode for mode in run.modes}

    def take(line: str) -> bool:
        row = _RAMAN.match(line)
        if row is not None and int(row[1]) in groups:
            values = [first(row[i]) for i in (3, 4, 5)]
            groups[int(row[1])].raman = {
                name: value
                for name, value in zip(_RAMAN_NAMES, values, strict=True)
                if value is not None
            }
        return not line.strip() or line.lstrip()[0] in "0123456789-M"

    return take


_ENERGY_TERMS: Final = {
    "E0 ": "zero_point_hartree",
    "ET ": "thermal_hartree",
    "PV ": "pv_hartree",
    "TS ": "ts_hartree",
}


@at("E0  ", "ET  ", "PV  ", "TS  ")
def _on_term(run: Run, line: str) -> None:
    name = _ENERGY_TERMS[line.lstrip()[:3]]
    value = first(line.partition(":")[2])
    if run.frequencies_asked and value is not None:
        run.thermodynamics.setdefault(name, value)


@at("AT (T =")
def _on_temperature(run: Run, line: str) -> None:
    temperature = behind(line, "T =")
    if temperature is not None:
        run.thermodynamics.setdefault("temperature_k", temperature)


@at("ENTROPY       :", "HEAT CAPACITY :")
def _on_function(run: Run, line: str) -> None:
    values = numbers(line.partition(":")[2])
    name = "entropy" if "ENTROPY" in line else "heat_capacity"
    if len(values) == 3:
        run.thermodynamics.setdefault(f"{name}_j_per_mol_k", values[2])


@at("ELASTIC CALCULATION")
def _on_elastic_asked(run: Run, _line: str) -> None:
    run.elastic_asked = True


@at("SYMMETRIZED ELASTIC CONSTANTS FOR")
def _on_elastic(run: Run, line: str) -> Taker:
    unit = _UNIT.search(line)
    elastic = Elastic(unit[1].rstrip(",") if unit else "")
    run.elastic, run.elastic_asked = elastic, True

    def take(line: str) -> bool:
        if line.strip().startswith("|"):
            elastic.rows.append(numbers(line))
            return True
        return not line.strip() and not elastic.rows

    return take


@at("K_V  ")
def _on_moduli(run: Run, _line: str) -> Taker:
    def take(line: str) -> bool:
        values = numbers(line)
        if len(values) == 8 and run.elastic is not None:
            run.elastic.moduli = dict(zip((*_MODULI, "poisson_hill"), values, strict=True))
        return not line.strip()

    return take


@at("K =  ")
def _on_bulk(run: Run, line: str) -> None:
    if run.elastic is not None:
        run.elastic.bulk = first(line.partition("=")[2])


@at("WARNING ****")
def _on_warning(run: Run, line: str) -> None:
    _, _, rest = line.partition("****")
    unit, found, text = rest.partition("****")
    words = " ".join((text if found else unit).split())
    warning = f"{unit.strip()}: {words}" if found and unit.strip() else words
    if warning and warning not in run.warnings and len(run.warnings) < MAX_WARNINGS:
        run.warnings.append(warning)


MAX_WARNINGS: Final = 100
