"""EMT for i-PI's Python driver: ``i-pi-driver-py -m custom -P emt_pes.py -o STRUCTURE``."""

from ase.calculators.emt import EMT
from ipi.pes._ase import ASEDriver

__DRIVER_NAME__ = "custom"
__DRIVER_CLASS__ = "EmtDriver"


class EmtDriver(ASEDriver):
    """Takes the structure's file as its parameter."""

    def check_parameters(self):
        """Load the structure and the potential."""
        super().check_parameters()
        self.ase_calculator = EMT()
