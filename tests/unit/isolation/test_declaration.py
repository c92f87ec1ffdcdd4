"""Declaration files: what they say, and that they are never executed."""

from pathlib import Path

import pytest

from crystalmath.isolation.declaration import load_declaration, load_declarations
from crystalmath.isolation.lock import declared_digest

HEAD = """\
# /// script
# requires-python = "==3.11.*"
# dependencies = ["sevenn==0.13.0", "torch==2.13.0"]
# [tool.crystalmath]
# kind = "engine"
# import-first = "sevenn"
# ///
"""
SETUP = "def setup(model, device='cpu'):\n    raise SystemExit\n"
MODELS = """\
MODELS = {
    "a": {"source": "package", "license": "MIT", "default": True, "elements": 89,
          "properties": ["energy", "forces", "stress"]},
    "b": {"source": "file", "elements": ["Si", "O"], "info_keys": ["charge"]},
}
"""


def declared(tmp_path: Path, text: str, name: str = "one"):
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    return load_declaration(path, "user")


def test_a_declaration(tmp_path: Path) -> None:
    engine = declared(tmp_path, HEAD + MODELS + SETUP).engine
    assert engine.problem is None
    assert engine.dependencies == ("sevenn==0.13.0", "torch==2.13.0")
    assert engine.import_first == ("sevenn",)
    assert [m.id for m in engine.models] == ["a", "b"]
    assert engine.models[0].default
    assert engine.models[0].elements is None
    assert engine.models[1].elements == ("Si", "O")
    assert engine.warnings == ()


def test_its_code_never_runs(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    text = HEAD + MODELS + f"open({str(trap)!r}, 'w')\n" + SETUP
    assert declared(tmp_path, text).engine.problem is None
    assert not trap.exists()


def test_a_rootstock_file_is_read_unchanged(tmp_path: Path) -> None:
    text = (
        '# /// script\n# dependencies = ["mace-torch>=0.3"]\n# ///\n'
        "CHECKPOINTS = {'medium': 'mace-medium', 'small': 'mace-small'}\n"
        "def setup(checkpoint, device='cpu', **kw):\n    return None\n"
    )
    engine = declared(tmp_path, text).engine
    assert engine.problem is None
    assert [m.id for m in engine.models] == ["medium", "small"]
    assert len(engine.warnings) == 1


def test_an_external_interpreter_and_the_hosts_own(tmp_path: Path) -> None:
    text = '# /// script\n# [tool.crystalmath]\n# python = "/opt/site/bin/python"\n# ///\n' + SETUP
    assert declared(tmp_path, text).engine.external_python == "/opt/site/bin/python"
    text = "# /// script\n# [tool.crystalmath]\n# host = true\n# ///\n" + SETUP
    assert declared(tmp_path, text).engine.host_interpreter


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "PEP 723"),
        (HEAD + "\n" + HEAD + SETUP, "PEP 723"),
        (HEAD.replace('"engine"', '"toy"') + SETUP, "kind"),
        (HEAD.replace("# kind", "# kin") + SETUP, "line 5: [tool.crystalmath] has no key 'kin'"),
        (HEAD.replace('= "==3.11.*"', "= ="), "no TOML"),
        (HEAD, "setup"),
        (HEAD + SETUP + "x = (\n", "line"),
        (HEAD + "MODELS = dict(a=1)\n" + SETUP, "line 8: MODELS is not made of literals"),
        (HEAD + "MODELS = {'a': {'sourc': 'package'}}\n" + SETUP, "unknown key 'sourc'"),
        (HEAD + "MODELS = {'a': {'source': 'web'}}\n" + SETUP, "source is"),
        (HEAD + "MODELS = {'a': {'properties': ['virial']}}\n" + SETUP, "'virial' is no property"),
        (
            HEAD + "MODELS = {'a': {'source': {'url': 'http://x', 'sha256': '" + "0" * 64 + "', "
            "'bytes': 1}}}\n" + SETUP,
            "https",
        ),
        (HEAD.replace('# dependencies = ["sevenn==0.13.0", "torch==2.13.0"]\n', "") + SETUP, "one"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, text: str, says: str) -> None:
    problem = declared(tmp_path, text).engine.problem
    assert problem is not None
    assert says in problem
    assert "one.py" in problem


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in (load_declaration(tmp_path / "x.py", "user").engine.problem or "")


def test_a_users_file_does_not_hide_a_shipped_one(tmp_path: Path) -> None:
    for folder in ("shipped", "user"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text(HEAD + SETUP)
    found = load_declarations(tmp_path / "shipped", tmp_path / "user")
    assert [(d.engine.name, d.engine.problem is None) for d in found] == [
        ("one", True),
        ("one (user)", False),
    ]


def test_the_digest_follows_what_is_installed_only(tmp_path: Path) -> None:
    first = declared_digest(declared(tmp_path, HEAD + SETUP))
    assert declared_digest(declared(tmp_path, HEAD + MODELS + SETUP)) == first
    assert declared_digest(declared(tmp_path, HEAD.replace("2.13", "2.12") + SETUP)) != first
