"""How atoms move in time: the values that jobs and workflows accept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Timestep = Annotated[float, Field(gt=0, le=20)]
"""Length of a step, fs."""
Thermostat = Annotated[float, Field(gt=0, le=1e6)]
"""How slowly the thermostat acts, fs."""
Barostat = Annotated[float, Field(gt=0, le=1e7)]
"""Period of the cell's motion, fs."""
Pressure = Annotated[float, Field(ge=-100, le=1000)]
"""GPa."""
Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""Of the random numbers; the same gives the same."""
