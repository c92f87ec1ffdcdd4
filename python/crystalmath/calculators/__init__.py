"""Calculators for scripts, and the programs that compute with engines in their own processes.

The one room above the daemon and its client: nothing imports it but ``crystalmath.calculator``,
which is loaded on first use, and the programs that the daemon starts by name.

    making     calculator("sevenn", …): the public function
    daemon     connections to workers of the daemon
    own        the same engines without a daemon
    lasting    connections that outlive the daemon, for jobs
    job        the program of a job with such an engine
    examine    the program of forces.doctor
    drive      the program of forces.serve
"""

from crystalmath.calculators.making import calculator

__all__ = ["calculator"]
