"""Declaration files: what they say, and that they are never executed."""

from pathlib import Path

import pytest

from crystalmath.isolation.declaration import Declared, load_declaration, load_declarations
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
    "b": {"source": "file", "elements": ["Si", "O"], "info_keys": ["charge"],
          "warm": {"symbols": ["Si"], "positions": [[0, 0, 0]]}, "options": {"r": 6.0}},
}
"""
NO_DEPENDENCIES = HEAD.replace('# dependencies = ["sevenn==0.13.0", "torch==2.13.0"]\n', "")


def declared(tmp_path: Path, text: str, name: str = "one") -> Declared:
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    return load_declaration(path, "user")


def with_model(entry: str) -> str:
    return HEAD + "MODELS = {\n    'a': " + entry + ",\n}\n" + SETUP


def test_a_declaration(tmp_path: Path) -> None:
    engine = declared(tmp_path, HEAD + MODELS + SETUP).engine
    assert engine.problem is None
    assert engine.dependencies == ("sevenn==0.13.0", "torch==2.13.0")
    assert engine.requires_python == "==3.11.*"
    assert engine.import_first == ("sevenn",)
    assert [m.id for m in engine.models] == ["a", "b"]
    first, second = engine.models
    assert (first.default, first.elements, first.license_id) == (True, None, "MIT")
    assert second.elements == ("Si", "O")
    assert second.options == {"r": 6.0}
    assert second.warm == {"symbols": ["Si"], "positions": [[0, 0, 0]]}
    assert engine.warnings == ()


def test_its_code_never_runs(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    text = HEAD + MODELS + f"open({str(trap)!r}, 'w')\n" + SETUP
    assert declared(tmp_path, text).engine.problem is None
    assert not trap.exists()


def test_a_rootstock_file_is_read_unchanged(tmp_path: Path) -> None:
    text = (
        '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["mace-torch>=0.3"]\n'
        '#\n# [[tool.uv.index]]\n# name = "rocm"\n# url = "https://example.org/whl"\n'
        "# explicit = true\n# ///\n"
        "CHECKPOINTS = {'medium': 'mace-medium', 'small': 'mace-small'}\n"
        "def setup(checkpoint, device='cpu', **kw):\n    return None\n"
    )
    found = declared(tmp_path, text)
    assert found.engine.problem is None
    assert [(m.id, m.title, m.default) for m in found.engine.models] == [
        ("medium", "mace-medium", False),
        ("small", "mace-small", False),
    ]
    assert len(found.engine.warnings) == 1
    assert found.uv_tables["index"][0]["name"] == "rocm"


def test_an_external_interpreter_and_the_hosts_own(tmp_path: Path) -> None:
    text = '# /// script\n# [tool.crystalmath]\n# python = "/opt/site/bin/python"\n# ///\n' + SETUP
    assert declared(tmp_path, text).engine.external_python == "/opt/site/bin/python"
    text = "# /// script\n# dependencies = []\n# [tool.crystalmath]\n# host = true\n# ///\n" + SETUP
    assert declared(tmp_path, text).engine.host_interpreter


def test_an_extension_needs_no_setup(tmp_path: Path) -> None:
    found = declared(tmp_path, HEAD.replace('"engine"', '"extension"')).engine
    assert (found.kind, found.problem) == ("extension", None)


def test_more_of_a_block(tmp_path: Path) -> None:
    more = '# import-first = ["mace", "e3nn.o3"]\n# additive = true\n# install-mb = 1.5\n'
    text = HEAD.replace('# import-first = "sevenn"\n', more + '# title = "x"\n') + SETUP
    found = declared(tmp_path, text)
    assert found.engine.import_first == ("mace", "e3nn.o3")
    assert (found.engine.additive, found.engine.title) == (True, "x")
    assert found.install_bytes == 1_500_000


@pytest.mark.parametrize(
    ("requirement", "exact"),
    [
        ("ase==3.29.0", True),
        ("ase === 3.29.0", True),
        ("torch[all]==2.13.0; sys_platform == 'linux'", True),
        ("x @ https://example.org/x-1.0-py3-none-any.whl", True),
        ("ase", False),
        ("ase>=3.29", False),
        ("ase==3.29.*", False),
        ("ase~=3.29.0", False),
    ],
)
def test_a_range_is_a_warning(tmp_path: Path, requirement: str, exact: bool) -> None:
    text = f'# /// script\n# dependencies = ["{requirement}"]\n# ///\n' + SETUP
    engine = declared(tmp_path, text).engine
    assert engine.problem is None
    assert [requirement in one for one in engine.warnings] == ([] if exact else [True])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "PEP 723"),
        (HEAD + "\n" + HEAD + SETUP, "PEP 723"),
        (HEAD.replace('"engine"', '"toy"') + SETUP, "line 5: kind is 'toy'"),
        (HEAD.replace("# kind", "# kin") + SETUP, "line 5: [tool.crystalmath] has no key 'kin'"),
        (HEAD.replace("# requires", "# require") + SETUP, "line 2: the block has no key 'require-"),
        (HEAD.replace('= "==3.11.*"', "= ") + SETUP, "line 2: its block is no TOML"),
        (HEAD.replace("==3.11.*", "3.11 or so") + SETUP, "line 2: requires-python"),
        (HEAD.replace('"==3.11.*"', "3.11") + SETUP, "line 2: requires-python is no text"),
        (HEAD.replace('"torch==2.13.0"', "3") + SETUP, "line 3: dependencies is no list"),
        (HEAD.replace("torch==2.13.0", "torch = 2") + SETUP, "line 3: 'torch = 2' is no require"),
        (HEAD.replace('"sevenn"\n', '"a; b"\n') + SETUP, "line 6: 'a; b' is no name of a module"),
        (HEAD.replace('"sevenn"\n', "3\n") + SETUP, "line 6: import-first is no list"),
        (HEAD.replace('kind = "engine"', "host = 1") + SETUP, "line 5: host is neither"),
        (HEAD.replace('kind = "engine"', 'install-mb = "3"') + SETUP, "line 5: install-mb"),
        (NO_DEPENDENCIES.replace('kind = "engine"', 'python = "python3"') + SETUP, "absolute"),
        (NO_DEPENDENCIES + SETUP, "exactly one of dependencies"),
        (HEAD.replace('kind = "engine"', "host = true") + SETUP, "exactly one of dependencies"),
        ('# /// script\n# tool = 3\n# ///\n' + SETUP, "line 2: tool is no table"),
        (HEAD, "setup"),
        (HEAD + SETUP + "x = (\n", "line 10: it is no Python"),
        (HEAD + SETUP + "x = " + "(" * 500 + ")" * 500, "no Python"),
        (HEAD + "MODELS = dict(a=1)\n" + SETUP, "line 8: MODELS is no dictionary made of lit"),
        (HEAD + "MODELS = {\n  'a': f(),\n}\n" + SETUP, "line 9: MODELS is not made of literals"),
        (HEAD + "MODELS = {\n  **other,\n}\n" + SETUP, "line 9: MODELS is not made of literals"),
        (HEAD + "MODELS = {1: {}}\n" + SETUP, "line 8: 1 is no name"),
        (HEAD + "MODELS = {'/a': {}}\n" + SETUP, "line 8: '/a' is no name"),
        (HEAD + "MODELS = {'a': {}, 'a': {}}\n" + SETUP, "'a' is there twice"),
        (with_model("3"), "line 9: the model 'a' is no dictionary"),
        (with_model("{'sourc': 'package'}"), "line 9: the model 'a' has an unknown key 'sourc'"),
        (with_model("{'source': 'web'}"), "line 9: the model 'a' has a source"),
        (with_model("{'source': ['package']}"), "line 9: the model 'a' has a source"),
        (with_model("{'properties': ['virial']}"), "gives 'virial'"),
        (with_model("{'properties': [3]}"), "properties that are no list"),
        (with_model("{'default': 'yes'}"), "default that is neither"),
        (with_model("{'dtype': 32}"), "dtype that is no text"),
        (with_model("{'options': ['a']}"), "options that is no dictionary"),
        (with_model("{'elements': [1, 2]}"), "elements that are no list"),
        (with_model("{'warm': {'symbols': ['Si']}}"), "warm structure without"),
        (with_model("{'default': True}, 'b': {'default': True}"), "a and b are both the default"),
        (with_model("{'source': {'url': 'http://x/y', 'sha256': '0' , 'bytes': 1}}"), "sha256"),
        (with_model(f"{{'source': {{'url': 'http://x/y', 'sha256': '{'0' * 64}', 'bytes': 1}}}}"),
         "https"),
        (with_model(f"{{'source': {{'url': 'https://x/', 'sha256': '{'0' * 64}', 'bytes': 1}}}}"),
         "https"),
        (with_model(f"{{'source': {{'url': 'https://x/y', 'sha256': '{'0' * 64}', 'bytes': 0}}}}"),
         "bytes"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_says_why_and_where(tmp_path: Path, text: str, says: str) -> None:
    problem = declared(tmp_path, text).engine.problem
    assert problem is not None
    assert says in problem
    assert "one.py" in problem


def test_files_that_are_no_declarations(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "y.py").write_bytes(b"#" * (2 << 20))
    (tmp_path / "z.py").mkdir()
    (tmp_path / "_hidden.py").write_text("")
    (tmp_path / "Bad-Name.py").write_text(HEAD + SETUP)
    found = {d.engine.name: d.engine.problem or "" for d in load_declarations(tmp_path, None)}
    assert sorted(found) == ["Bad-Name", "x", "y"]
    assert "UTF-8" in found["x"]
    assert "larger" in found["y"]
    assert "lower-case" in found["Bad-Name"]
    assert "No such file" in (load_declaration(tmp_path / "gone.py", "user").engine.problem or "")
    assert load_declarations(tmp_path / "absent", tmp_path / "absent") == []


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + MODELS + SETUP).replace("\n", "\r\n").encode())
    assert load_declaration(path, "user").engine.problem is None


def test_a_users_file_does_not_hide_a_shipped_one(tmp_path: Path) -> None:
    for folder in ("shipped", "user"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text(HEAD + SETUP)
    found = load_declarations(tmp_path / "shipped", tmp_path / "user")
    assert [(d.engine.name, d.engine.problem is None) for d in found] == [
        ("one", True),
        ("one (user)", False),
    ]
    assert "give the file another name" in (found[1].engine.problem or "")


def test_the_digest_follows_what_is_installed_only(tmp_path: Path) -> None:
    first = declared_digest(declared(tmp_path, HEAD + SETUP))
    assert declared_digest(declared(tmp_path, HEAD + MODELS + SETUP)) == first
    assert declared_digest(declared(tmp_path, HEAD.replace("2.13", "2.12") + SETUP)) != first
    assert declared_digest(declared(tmp_path, HEAD.replace("3.11", "3.12") + SETUP)) != first
    text = HEAD.removesuffix("# ///\n") + "# [tool.uv]\n# no-index = true\n# ///\n" + SETUP
    assert declared_digest(declared(tmp_path, text)) != first
