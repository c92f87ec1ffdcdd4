"""Writes a small MACE model with random weights: ``python make_mace.py FILE [SEED]``.

To be run in MACE's environment.
Its numbers mean nothing, but its forces are true derivatives of its energy. Elements O, Na, Mg, Si,
Cl and Cu; double precision; the same weights for the same seed.
"""

# mace first: it sets what e3nn 0.4.4 needs to load with a newer torch
from mace import modules  # isort: skip

import sys

from e3nn import o3

import torch

NUMBERS = [8, 11, 12, 14, 17, 29]
CHANNELS = 8


def build(seed):
    """Make the model."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20260101 + seed)
    interaction = modules.interaction_classes["RealAgnosticResidualInteractionBlock"]
    return modules.ScaleShiftMACE(
        r_max=4.5,
        num_bessel=6,
        num_polynomial_cutoff=5,
        max_ell=2,
        interaction_cls=interaction,
        interaction_cls_first=interaction,
        num_interactions=2,
        num_elements=len(NUMBERS),
        hidden_irreps=o3.Irreps(f"{CHANNELS}x0e"),
        MLP_irreps=o3.Irreps("8x0e"),
        atomic_energies=[-1.0 * n for n in range(1, len(NUMBERS) + 1)],
        avg_num_neighbors=20.0,
        atomic_numbers=NUMBERS,
        correlation=2,
        gate=torch.nn.functional.silu,
        atomic_inter_scale=1.0,
        atomic_inter_shift=0.0,
        heads=["Default"],
    )


if __name__ == "__main__":
    torch.save(build(int(sys.argv[2]) if len(sys.argv) > 2 else 0), sys.argv[1])
