"""i-PI messages: split anywhere they decode the same; whatever is wrong is an error."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.errors import BadResult
from crystalmath.forces.ipi import words
from crystalmath.forces.ipi.codec import (
    Forces,
    ForcesMessage,
    PositionsMessage,
    ReplyReader,
    init_message,
)
from crystalmath.forces.ipi.commands import (
    AskForces,
    AskStatus,
    Begin,
    Command,
    CommandReader,
    Leave,
    Move,
)
from crystalmath.units import BOHR_ANGSTROM, HARTREE_EV

NINE = np.array([[4.0, 0.1, 0.2], [0.3, 5.0, 0.4], [0.5, 0.6, 6.0]])
SHEAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
CUTS = st.lists(st.integers(0, 2000), max_size=8)


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)]


def fill(reader: ReplyReader | CommandReader, piece: bytes) -> int:
    room = reader.room()
    assert len(room) > 0
    count = min(len(room), len(piece))
    room[:count] = piece[:count]
    return count


def read_reply(reader: ReplyReader, chunks: list[bytes]) -> bool:
    done = False
    for chunk in chunks:
        rest = chunk
        while rest:
            count = fill(reader, rest)
            done, rest = reader.took(count), rest[count:]
    return done


def read_commands(reader: CommandReader, chunks: list[bytes]) -> list[Command]:
    found: list[Command] = []
    for chunk in chunks:
        rest = chunk
        while rest:
            count = fill(reader, rest)
            reader.took(count)
            rest = rest[count:]
            while (command := reader.next_command()) is not None:
                found.append(command)
    return found


def forces_message(atoms: int, extras: bytes = b" ") -> bytes:
    message = ForcesMessage(atoms, extras=extras)
    message.fill(-3.25, np.arange(3.0 * atoms).reshape(atoms, 3), SHEAR)
    return bytes(message.all)


def same(one: Forces, other: Forces) -> bool:
    return (
        one.energy_ev == other.energy_ev
        and one.extras == other.extras
        and (one.forces_ev_per_angstrom == other.forces_ev_per_angstrom).all()
        and bool((one.virial_ev == other.virial_ev).all())
    )


def decoded(atoms: int, data: bytes, cuts: Sequence[int] = ()) -> Forces:
    reader = ReplyReader(atoms)
    reader.expect("forces")
    assert read_reply(reader, pieces(data, cuts))
    return reader.forces()


def test_posdata_is_what_the_protocol_says() -> None:
    message = PositionsMessage(2)
    message.fill(np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), NINE)
    data = bytes(message.with_getforce)
    assert len(data) == 172 + 24 * 2
    assert data[:12] == b"POSDATA     "
    assert data[-12:] == b"GETFORCE    "
    assert bytes(message.alone) == data[:-12]
    cell = np.frombuffer(data, "<f8", 9, 12).reshape(3, 3)
    inverse = np.frombuffer(data, "<f8", 9, 84).reshape(3, 3)
    # Row by row of the matrix whose columns are the vectors: the second number is b's x.
    assert cell[0, 1] == pytest.approx(NINE[1, 0] / BOHR_ANGSTROM, rel=1e-15)
    np.testing.assert_allclose(inverse @ cell, np.eye(3), atol=1e-14)
    assert struct.unpack_from("<i", data, 156) == (2,)
    sent = np.frombuffer(data, "<f8", 6, 160)
    np.testing.assert_allclose(sent, np.arange(6.0) / BOHR_ANGSTROM, rtol=1e-15)


def test_a_changed_cell_is_sent() -> None:
    message = PositionsMessage(1)
    positions = np.zeros((1, 3))
    cell = NINE.copy()
    message.fill(positions, cell)
    cell[2, 0] += 0.5
    message.fill(positions, cell)
    sent = np.frombuffer(message.alone, "<f8", 9, 12).reshape(3, 3)
    np.testing.assert_allclose(sent * BOHR_ANGSTROM, cell.T, rtol=1e-15)
    inverse = np.frombuffer(message.alone, "<f8", 9, 84).reshape(3, 3)
    np.testing.assert_allclose(inverse @ sent, np.eye(3), atol=1e-14)


def test_forceready_is_what_the_protocol_says() -> None:
    data = forces_message(2)
    assert len(data) == 100 + 24 * 2 + 1
    assert data[:12] == b"FORCEREADY  "
    assert struct.unpack_from("<d", data, 12)[0] == pytest.approx(-3.25 / HARTREE_EV)
    assert struct.unpack_from("<i", data, 20) == (2,)
    forces = np.frombuffer(data, "<f8", 6, 24)
    np.testing.assert_allclose(forces * HARTREE_EV / BOHR_ANGSTROM, np.arange(6.0))
    virial = np.frombuffer(data, "<f8", 9, 72).reshape(3, 3)
    np.testing.assert_allclose(virial * HARTREE_EV, SHEAR.T)
    assert struct.unpack_from("<i", data, 144) == (1,)


def test_init_has_one_byte_of_text() -> None:
    assert init_message() == b"INIT        " + struct.pack("<ii", 0, 1) + b"\0"


@given(st.integers(1, 20), st.binary(max_size=6000), CUTS)
def test_forces_split_anywhere_are_the_same(atoms: int, extras: bytes, cuts: list[int]) -> None:
    data = forces_message(atoms, extras)
    result = decoded(atoms, data, cuts)
    assert same(result, decoded(atoms, data))
    assert result.extras == extras
    assert result.energy_ev == pytest.approx(-3.25, rel=1e-15)
    np.testing.assert_allclose(result.virial_ev, SHEAR, rtol=1e-15)
    np.testing.assert_allclose(
        result.forces_ev_per_angstrom, np.arange(3.0 * atoms).reshape(atoms, 3), rtol=1e-14
    )


def test_forces_byte_by_byte() -> None:
    data = forces_message(2)
    assert same(decoded(2, data, range(len(data))), decoded(2, data))


@given(CUTS, st.binary(max_size=40))
def test_commands_split_anywhere_are_the_same(cuts: list[int], text: bytes) -> None:
    message = PositionsMessage(3)
    message.fill(np.arange(9.0).reshape(3, 3), NINE)
    data = (
        words.STATUS
        + init_message(text, bead=-1)
        + words.STATUS
        + bytes(message.with_getforce)
        + words.STATUS
        + words.EXIT
    )
    found = read_commands(CommandReader(3), pieces(data, cuts))
    assert [type(one) for one in found] == [
        AskStatus,
        Begin,
        AskStatus,
        Move,
        AskForces,
        AskStatus,
        Leave,
    ]
    assert found[1] == Begin(-1, text)
    move = found[3]
    assert isinstance(move, Move)
    np.testing.assert_allclose(move.cell, NINE, rtol=1e-15)
    np.testing.assert_allclose(move.positions, np.arange(9.0).reshape(3, 3), rtol=1e-15)


def test_a_long_init_is_read_though_the_structure_is_small() -> None:
    text = bytes(range(256)) * 40
    data = init_message(text) + words.STATUS
    for cuts in ((), (5,), (17, 400), range(0, len(data), 7)):
        assert read_commands(CommandReader(1), pieces(data, cuts)) == [Begin(0, text), AskStatus()]


@pytest.mark.parametrize("state", words.STATES)
def test_states_split_anywhere(state: bytes) -> None:
    for cut in range(13):
        reader = ReplyReader(1)
        reader.expect("state")
        assert read_reply(reader, pieces(state, [cut]))
        assert reader.state() == state


def test_one_reader_serves_many_answers() -> None:
    reader = ReplyReader(2)
    for extras in (b"", b" ", b"x" * 20_000, b""):
        reader.expect("state")
        assert read_reply(reader, [words.READY])
        reader.expect("forces")
        assert read_reply(reader, [forces_message(2, extras)])
        assert reader.forces().extras == extras


def test_results_are_the_callers_own() -> None:
    reader = ReplyReader(1)
    reader.expect("forces")
    assert read_reply(reader, [forces_message(1)])
    first = reader.forces()
    before = first.forces_ev_per_angstrom.copy()
    message = ForcesMessage(1)
    message.fill(9.0, np.full((1, 3), 8.0), -SHEAR)
    reader.expect("forces")
    assert read_reply(reader, [bytes(message.all)])
    assert reader.forces().energy_ev == pytest.approx(9.0)
    assert (first.forces_ev_per_angstrom == before).all()


@given(st.binary(min_size=1, max_size=400))
def test_garbage_for_a_reply_is_an_error_or_incomplete(data: bytes) -> None:
    for answer in ("state", "forces"):
        reader = ReplyReader(2)
        reader.expect(answer)  # type: ignore[arg-type]
        try:
            done = read_reply(reader, [data])
        except BadResult:
            continue
        if done:
            assert answer == "state"
            assert data in words.STATES
        else:
            first = [*words.STATES, words.FORCEREADY]
            assert any(word.startswith(data[:12]) for word in first)


@given(st.integers(0, 148), st.binary(min_size=1, max_size=24))
def test_spoiled_forces_are_an_error_or_finite_or_incomplete(at: int, patch: bytes) -> None:
    data = bytearray(forces_message(2))
    data[at : at + len(patch)] = patch
    reader = ReplyReader(2)
    reader.expect("forces")
    try:
        if read_reply(reader, [bytes(data)]):
            result = reader.forces()
            assert np.isfinite(result.forces_ev_per_angstrom).all()
            assert np.isfinite(result.virial_ev).all()
            assert np.isfinite(result.energy_ev)
    except BadResult:
        pass


@given(st.binary(min_size=1, max_size=600), CUTS)
def test_garbage_for_a_command_is_an_error_or_incomplete(data: bytes, cuts: list[int]) -> None:
    try:
        whole: list[Command] | None = read_commands(CommandReader(2), [data])
    except BadResult:
        whole = None
    try:
        split: list[Command] | None = read_commands(CommandReader(2), pieces(data, cuts))
    except BadResult:
        split = None
    assert (whole is None) == (split is None)
    if whole is not None and split is not None:
        assert [type(one) for one in whole] == [type(one) for one in split]


@pytest.mark.parametrize(
    ("at", "patch", "complaint"),
    [
        (0, b"FORCEREADX", "no word of a force program"),
        (0, words.READY, "where FORCEREADY belongs"),
        (20, struct.pack("<i", 3), "forces on 3 atoms; 2 were sent"),
        (20, struct.pack("<i", -1), "forces on -1 atoms"),
        (144, struct.pack("<i", 2_000_000_000), "extras of 2000000000 bytes"),
        (144, struct.pack("<i", -5), "extras of -5 bytes"),
        (144, struct.pack("<i", 0), "1 bytes more than the answer has"),
        (12, struct.pack("<d", float("nan")), "the energy is nan"),
        (48 + 8, struct.pack("<d", float("inf")), r"force on atom 1 .* is inf along y"),
        (48 + 16, struct.pack("<d", 1e308), r"force on atom 1 .* is inf along z"),
        (72 + 8, struct.pack("<d", float("nan")), "virial's yx is nan"),
    ],
)
def test_a_bad_answer_is_refused(at: int, patch: bytes, complaint: str) -> None:
    data = bytearray(forces_message(2))
    data[at : at + len(patch)] = patch
    with pytest.raises(BadResult, match=complaint):
        decoded(2, bytes(data))


def test_a_wrong_beginning_is_not_waited_for() -> None:
    reader = ReplyReader(1)
    reader.expect("forces")
    fill(reader, b"Err")
    with pytest.raises(BadResult, match="'Err' is no word"):
        reader.took(3)


def test_a_count_is_checked_before_the_rest_has_come() -> None:
    reader = ReplyReader(2)
    reader.expect("forces")
    head = words.FORCEREADY + struct.pack("<di", 1.0, 2_000_000)
    fill(reader, head)
    with pytest.raises(BadResult, match="2000000 atoms"):
        reader.took(len(head))


def test_forces_where_a_state_belongs() -> None:
    reader = ReplyReader(1)
    reader.expect("state")
    with pytest.raises(BadResult, match="'FORCEREADY' came where a state belongs"):
        read_reply(reader, [words.FORCEREADY])


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"STATUSX", "'STATUSX' is no word"),
        (b"READY       ", "no word of a server"),
        (words.INIT + struct.pack("<ii", 0, -1), "INIT announces -1 bytes"),
        (words.INIT + struct.pack("<ii", 0, 2_000_000_000), "INIT announces 2000000000 bytes"),
        (words.POSDATA + bytes(144) + struct.pack("<i", 7), "sent 7 atoms; the template has 2"),
        (words.POSDATA + b"\xff" * 72 + bytes(72) + struct.pack("<i", 2) + bytes(48), "cell"),
        (words.POSDATA + bytes(144) + struct.pack("<i", 2) + b"\xff" * 48, "position of atom 0"),
    ],
)
def test_a_bad_command_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(BadResult, match=complaint):
        read_commands(CommandReader(2), [data])


def test_a_result_that_is_not_finite_is_not_sent() -> None:
    message = ForcesMessage(2)
    forces = np.zeros((2, 3))
    forces[1, 2] = np.nan
    with pytest.raises(BadResult, match="atom 1"):
        message.fill(0.0, forces, SHEAR)


def test_the_order_of_the_other_end() -> None:
    order = np.array([2, 0, 1])  # its first atom is our third
    ours = np.arange(9.0).reshape(3, 3)
    message = PositionsMessage(3, order=order)
    message.fill(ours, NINE)
    (move,) = read_commands(CommandReader(3), [bytes(message.alone)])
    assert isinstance(move, Move)
    np.testing.assert_allclose(move.positions, ours[order])

    answer = ForcesMessage(3)
    answer.fill(0.0, move.positions, SHEAR)  # its forces: its positions
    reader = ReplyReader(3, order=order)
    reader.expect("forces")
    assert read_reply(reader, [bytes(answer.all)])
    np.testing.assert_allclose(reader.forces().forces_ev_per_angstrom, ours)

    (back,) = read_commands(CommandReader(3, order=order), [bytes(message.alone)])
    assert isinstance(back, Move)
    np.testing.assert_allclose(back.positions, ours)
    turned = ForcesMessage(3, order=order)
    turned.fill(0.0, ours, SHEAR)
    np.testing.assert_allclose(
        decoded(3, bytes(turned.all)).forces_ev_per_angstrom, ours[order], rtol=1e-14
    )


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [1, 2, 3]])
def test_an_order_is_a_permutation(order: list[int]) -> None:
    with pytest.raises(ValueError, match="not a permutation of 3 atoms"):
        PositionsMessage(3, order=np.array(order))


def test_other_units_of_the_other_end() -> None:
    units = words.Units(bohr_angstrom=0.5, hartree_ev=27.0)
    message = PositionsMessage(1, units=units)
    message.fill(np.ones((1, 3)), NINE)
    np.testing.assert_allclose(np.frombuffer(message.alone, "<f8", 3, 160), 2.0)
    answer = ForcesMessage(1, units=units)
    answer.fill(27.0, np.full((1, 3), 54.0), 27.0 * SHEAR)
    assert struct.unpack_from("<d", answer.all, 12) == (1.0,)
    np.testing.assert_allclose(np.frombuffer(answer.all, "<f8", 3, 24), 1.0)
    reader = ReplyReader(1, units=units)
    reader.expect("forces")
    assert read_reply(reader, [bytes(answer.all)])
    assert reader.forces().energy_ev == 27.0
