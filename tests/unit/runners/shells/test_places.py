"""Paths as words of a shell, by a real shell."""

import subprocess

import pytest

from crystalmath.runners.shells.places import expanded, literal

ENVIRONMENT = {"HOME": "/home/me", "SCRATCH": "/scratch/me x"}


def read(word: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {word}"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize(
    ("path", "read_as"),
    [
        ("/a b/c'd\"e$HOME`x`\\", "/a b/c'd\"e$HOME`x`\\"),
        ("~", "/home/me"),
        ("~/x y", "/home/me/x y"),
        ("~other/x", "~other/x"),
        ("-rf", "./-rf"),
        ("Δ-é\nz", "Δ-é\nz"),
    ],
)
def test_literal(path: str, read_as: str) -> None:
    assert read(literal(path)) == read_as


@pytest.mark.parametrize(
    ("path", "read_as"),
    [
        ("$SCRATCH/a b", "/scratch/me x/a b"),
        ("/x/${SCRATCH}y$HOME", "/x//scratch/me xy/home/me"),
        ("~/$SCRATCH", "/home/me//scratch/me x"),
        ("/a$(touch /x)`b`;c", "/a$(touch /x)`b`;c"),
        ("/plain", "/plain"),
    ],
)
def test_expanded(path: str, read_as: str) -> None:
    assert read(expanded(path)) == read_as


def test_an_unset_variable_is_an_error_and_not_nothing() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        read(expanded("$NO_SUCH_VARIABLE/x"))
