"""What sbatch says. Numbers of the cases: 1 to 10 of the acceptance list for clusters."""

import pytest

from crystalmath.runners.slurm.submission import read_sbatch, read_step
from crystalmath.services.cluster_key import job_key, job_name, key_of
from crystalmath.services.ports_cluster import Accepted, Rejected, Unknown, Wait
from crystalmath.services.ports_shell import Ran

BANNER = "Welcome to the Granite3 Machine\n" + "--> Verifying valid submit host ...OK\n" * 5


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("Submitted batch job 70412 on cluster maple\n", Accepted(70412, "maple")),
        ("70413;maple\n", Accepted(70413, "maple")),
        ("70413\n", Accepted(70413)),
        (BANNER + "Submitted batch job 519001\n", Accepted(519001)),
        (BANNER + "519002\n", Accepted(519002)),
        ("Submitted batch job 1\nSubmitted batch job 2\n", Accepted(2)),
    ],
)
def test_accepted(out: str, expected: Accepted) -> None:
    assert read_sbatch(0, out, "") == expected


def test_what_sbatch_says_beside_an_id_is_a_warning() -> None:
    said = "sbatch: INFO: 128 GB needs a bigger node\n"
    assert read_sbatch(0, "70414\n", said) == Accepted(70414, None, (said.strip(),))


def test_success_without_an_id_is_unknown() -> None:
    assert isinstance(read_sbatch(0, "Welcome\n", ""), Unknown)


@pytest.mark.parametrize(
    ("rc", "err", "kind"),
    [
        (1, "sbatch: error: Batch job submission failed: Socket timed out on send/recv", Unknown),
        (None, "", Unknown),
        (1, ("sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: "
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time "
            "limits)"),
            Wait),
        (1, "sbatch: error: QOSMaxSubmitJobPerUserLimit", Wait),
        (1, ("sbatch: error: Batch job submission failed: Unable to contact slurm controller "
            "(connect failure)"), Wait),
        (1, ("sbatch: error: Batch job submission failed: Invalid account or account/partition "
            "combination specified"), Rejected),
        (1, ("sbatch: error: QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission "
            "failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time "
            "limits)"), Rejected),
        (1, "sbatch: error: something that nobody has seen before", Rejected),
    ],
)  # fmt: skip
def test_refusals(rc: int | None, err: str, kind: type) -> None:
    assert isinstance(read_sbatch(rc, "", err), kind)


def test_a_walltime_that_is_too_long_is_refused_with_a_hint() -> None:
    said = read_sbatch(1, "", "sbatch: error: QOSMaxWallDurationPerJobLimit\n")
    assert isinstance(said, Rejected)
    assert "walltime" in (said.hint or "")


def test_a_lost_connection_is_unknown() -> None:
    assert isinstance(read_step(Ran(None)), Unknown)
    assert isinstance(read_step(Ran(0, b"receipt 0\n70", complete=False)), Unknown)


@pytest.mark.parametrize("word", [b"working 123\n", b"claimed 123\n", b"unclaimed\n", b""])
def test_a_step_without_a_receipt_is_unknown(word: bytes) -> None:
    assert isinstance(read_step(Ran(0, word)), Unknown)


def test_a_receipt() -> None:
    assert read_step(Ran(0, b"receipt 0\n70415;maple\n")) == Accepted(70415, "maple")
    assert isinstance(read_step(Ran(0, b"receipt 1\n", b"sbatch: error: no\n")), Rejected)


def test_names_are_ascii_and_begin_with_the_key() -> None:
    uuid = "0193f2ab-7c41-7000-8000-00000abcdef1"
    assert job_key(uuid) == "cm-00000abcdef1"
    assert job_name(uuid, "ΔE β-Fe₂O₃ | relax") == "cm-00000abcdef1.E_-Fe_O_relax"
    assert job_name(uuid, "Ω") == "cm-00000abcdef1"
    assert key_of(job_name(uuid, "x")) == job_key(uuid)
    assert key_of("relax") is None
