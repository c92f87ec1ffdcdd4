"""The table of states: complete, connected, and the same in the database."""

from __future__ import annotations

from crystalmath.domain.states import LIVE, MEANING, REMOTE, STATES, TERMINAL, TRANSITIONS, may_move


def test_every_state_is_explained_and_reachable() -> None:
    assert set(MEANING) == set(STATES)
    reached = {"CREATED"}
    while True:
        more = {new for old, new in TRANSITIONS if old in reached} - reached
        if not more:
            break
        reached |= more
    assert reached == set(STATES)


def test_every_state_leads_to_an_end() -> None:
    for state in STATES:
        seen = {state}
        while not seen & TERMINAL:
            more = {new for old, new in TRANSITIONS if old in seen}
            assert more - seen, state
            seen |= more


def test_everything_unfinished_can_be_cancelled() -> None:
    for state in set(STATES) - TERMINAL - {"CANCELLING"}:
        assert may_move(state, "CANCELLING"), state


def test_ends_move_only_for_better_evidence() -> None:
    assert {(old, new) for old, new in TRANSITIONS if old in TERMINAL} == {
        ("FAILED", "FINISHED"),
        ("CANCELLED", "FINISHED"),
    }


def test_only_live_states_can_be_lost() -> None:
    assert {old for old, new in TRANSITIONS if new == "LOST"} == REMOTE == LIVE
