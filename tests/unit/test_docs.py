"""The documentation: links lead somewhere, and what it lists is what the code has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.domain.states import REASONS, STATES
from crystalmath.server.cli import cli
from crystalmath.server.settings import KEYS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests/fixtures").rglob("*.md")]
)

LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACES = re.compile(r"(?<![\w.$}~])/(?:work|root|tmp)\b[^\s`)|]*|\.\./shared\b")
ALLOWED_PLACE = "/tmp/crystalmath-$UID"

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def text_of(page: Path | str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = FENCED.sub("", text_of(page))
    titles = re.findall(r"^#{1,6} (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def command_lines(page: Path) -> Iterator[list[str]]:
    """The words of every shell line of a page that runs one of the two programs."""
    for language, block in FENCED.findall(text_of(page)):
        if language != "sh":
            continue
        for line in block.splitlines():
            for command in re.split(r"&&|\|\||[;|]|\$\(", line.partition(" # ")[0]):
                name, *words = command.split() or [""]
                if name in ("crystalmath", "./scripts/crystalmath", "crystalmath-server"):
                    yield [name.removeprefix("./scripts/"), *words]


def test_there_are_pages() -> None:
    assert {"README.md", "ARCHITECTURE.md", "CLAUDE.md", "CHANGELOG.md"} <= {p.name for p in PAGES}


@every_page
def test_relative_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(FENCED.sub("", text_of(page))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@every_page
def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    found = [m.group() for m in PLACES.finditer(text_of(page))]
    assert [place for place in found if not place.startswith(ALLOWED_PLACE)] == []


def test_readme_begins_with_the_two_commands() -> None:
    language, first = FENCED.findall(text_of("README.md"))[0]
    assert language == "sh"
    lines = [shlex.split(line, comments=True) for line in first.splitlines()]
    submit = "./scripts/crystalmath submit examples/copper.cif --task relax --engine emt --wait"
    assert submit.split() in lines
    assert ["./scripts/test"] in lines


def test_every_decision_record_is_in_the_index() -> None:
    records = sorted(p.name for p in (ROOT / "docs/adr").glob("[0-9]*.md"))
    numbers = [name[:3] for name in records]
    assert len(numbers) == len(set(numbers))
    assert (
        re.findall(r"^\| \[\d+\]\(([^)]+)\)", text_of("docs/adr/README.md"), re.MULTILINE)
        == records
    )


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = ROOT / "docs/README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(text_of(index))}
    pages = {p for p in PAGES if p.is_relative_to(ROOT / "docs") and p.parent.name != "adr"}
    assert pages - {index} <= linked


def test_configuration_page_has_every_key_and_no_other() -> None:
    blocks = FENCED.findall(text_of("docs/guide/configuration.md"))
    section, keys = "", set()
    daemon = [block for language, block in blocks if language == "toml" and "[daemon]" in block]
    for line in "".join(daemon).splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line:
            keys.add(f"{section}.{line.partition('=')[0].strip()}")
    assert keys == set(KEYS)


def test_jobs_page_has_every_state_and_reason() -> None:
    page = text_of("docs/guide/jobs.md")
    named = {
        word for row in re.findall(r"^\| (`.+?) \|", page, re.MULTILINE) for word in row.split("`")
    }
    assert {*STATES, *REASONS} <= named


@every_page
def test_commands_of_the_examples_exist(page: Path) -> None:
    known = {
        name.lower()
        for name in re.findall(
            r"^    (\w+)(?:\(|,$)",
            text_of("src/cli.rs").partition("pub enum Command {")[2].partition("\n}")[0],
            re.MULTILINE,
        )
    }
    assert {"submit", "jobs", "doctor"} <= known
    servers = set(cli.commands)
    for program, *words in command_lines(page):
        first = next((word for word in words if not word.startswith("-")), None)
        if first is not None and not words[0].startswith("-"):
            assert first in (known if program == "crystalmath" else servers) or first == "ARGS"
