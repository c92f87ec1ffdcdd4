"""Which names the contract has, and which of them are not built yet."""

from __future__ import annotations

import re

import pytest

from contract.adr_methods import ADR_METHODS
from contract.api_methods import API_METHODS
from contract.table import FIXTURES, ROOT, TABLE


def test_the_decision_record_has_25_methods() -> None:
    assert len(ADR_METHODS) == len(set(ADR_METHODS)) == 25


@pytest.mark.parametrize("name", [*ADR_METHODS, *API_METHODS])
def test_name_is_in_the_table(name: str) -> None:
    assert name in TABLE


def test_no_name_is_in_the_table_that_is_not_in_the_lists() -> None:
    assert set(TABLE) == {*ADR_METHODS, *API_METHODS}


def test_planned_methods_only_become_fewer() -> None:
    """A method that was built leaves the file; nothing may be added to it."""
    listed = (FIXTURES / "planned_methods.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))
    assert [name for name, method in TABLE.items() if method.planned is not None] == listed
    assert len(listed) <= 45


def test_planned_methods_say_what_to_do_meanwhile() -> None:
    hints = [method.planned for method in TABLE.values() if method.planned is not None]
    assert all(hint.endswith(".") for hint in hints)


def test_the_requests_of_the_ui_are_the_rows_of_the_record() -> None:
    text = (ROOT / "src/rpc/types.rs").read_text(encoding="utf-8")
    enum = text.partition("pub enum BridgeRequest")[2].partition("\n}")[0]
    assert tuple(re.findall(r"/// `(.+)`", enum)) == ADR_METHODS


def test_the_methods_of_the_client_are_those_of_the_table() -> None:
    text = (ROOT / "src/rpc/types.rs").read_text(encoding="utf-8")
    methods = text.partition("pub const METHODS")[2].partition("\n];")[0]
    assert re.findall(r'MethodInfo::new\(\s*"([^"]+)"', methods) == list(TABLE)
