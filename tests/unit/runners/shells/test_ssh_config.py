"""The way to a host, as the real ``ssh -G`` has it."""

from pathlib import Path

import pytest

from crystalmath.errors import SshError
from crystalmath.runners.shells.hosts import ClusterHost, Route
from crystalmath.runners.shells.ssh_config import (
    JumpHost,
    SshConfig,
    expand_tokens,
    parse_jumps,
    parse_ssh_g,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".ssh" / "conf.d").mkdir(parents=True)
    return tmp_path


def route(home: Path, text: str, host: ClusterHost) -> Route:
    config = home / "config"
    config.write_text(text)
    return SshConfig(config_file=config, home=home).route(host)


def test_an_alias_with_everything(home: Path) -> None:
    found = route(
        home,
        "Host maple\n HostName login.ex.org\n Port 2200\n User me\n IdentityFile ~/.ssh/%r_%h\n"
        " IdentitiesOnly yes\n UserKnownHostsFile /etc/kh1 /etc/kh2\n HostKeyAlias maple-key\n"
        " ServerAliveInterval 17\n IdentityAgent none\n",
        ClusterHost("c", "maple"),
    )
    hop = found.target
    assert found.source == "ssh -G"
    assert (hop.host, hop.port, hop.user) == ("login.ex.org", 2200, "me")
    assert hop.identities == (home / ".ssh" / "me_login.ex.org",)
    assert hop.identities_only
    assert hop.known_hosts[:2] == (Path("/etc/kh1"), Path("/etc/kh2"))
    assert (hop.key_name, hop.alive_interval_s, hop.identity_agent) == ("maple-key", 17, "none")
    assert hop.label == "maple (login.ex.org:2200)"


def test_the_record_wins(home: Path) -> None:
    host = ClusterHost("c", "maple", 99, "other", Path("/k/mine"))
    text = "Host maple\n HostName login.ex.org\n Port 2200\n User me\n IdentityFile /k/conf\n"
    hop = route(home, text, host).target
    assert (hop.host, hop.port, hop.user) == ("login.ex.org", 99, "other")
    assert hop.identities == (Path("/k/mine"), Path("/k/conf"))


def test_include_is_honoured(home: Path) -> None:
    (home / ".ssh" / "conf.d" / "x").write_text("Host birch\n HostName birch.ex.org\n")
    hop = route(home, f"Include {home}/.ssh/conf.d/*\n", ClusterHost("c", "birch")).target
    assert hop.host == "birch.ex.org"


def test_a_match_of_another_network_is_not_applied(home: Path) -> None:
    text = "Match localnetwork 192.0.2.0/24\n User wrong\nHost birch\n User right\n"
    try:
        hop = route(home, text, ClusterHost("c", "birch")).target
    except SshError as err:
        if "Unsupported Match attribute" in err.message:
            pytest.skip("this OpenSSH does not know `Match localnetwork`, which came with 9.4")
        raise
    assert hop.user == "right"


def test_jumps_of_the_configuration_of_the_record_and_none(home: Path) -> None:
    text = (
        "Host inner\n ProxyJump gate\nHost gate\n HostName gate.ex.org\n User g\n"
        " ProxyJump outer\nHost outer\n HostName outer.ex.org\n"
    )
    names = [hop.host for hop in route(home, text, ClusterHost("c", "inner")).hops]
    assert names == ["outer.ex.org", "gate.ex.org", "inner"]
    own = ClusterHost("c", "inner", proxy_jump="me@outer:77,gate")
    hops = route(home, text, own).hops
    assert [hop.host for hop in hops] == ["outer.ex.org", "gate.ex.org", "inner"]
    assert (hops[0].user, hops[0].port) == ("me", 77)
    direct = route(home, text, ClusterHost("c", "inner", proxy_jump="none"))
    assert [hop.host for hop in direct.hops] == ["inner"]


def test_jumps_without_an_end_are_an_error(home: Path) -> None:
    text = "Host a\n ProxyJump b\nHost b\n ProxyJump a\n"
    with pytest.raises(SshError, match="no end") as caught:
        route(home, text, ClusterHost("c", "a"))
    assert caught.value.stage == "config"


def test_what_openssh_refuses_is_said(home: Path) -> None:
    with pytest.raises(SshError, match=r"line 2.*[Bb]ad configuration option") as caught:
        route(home, "Host a\n NoSuchOption 1\n", ClusterHost("c", "a"))
    assert caught.value.stage == "config"


def test_proxy_command_is_expanded(home: Path) -> None:
    text = "Host a\n HostName a.ex.org\n Port 5\n ProxyCommand nc %h %p %%\n"
    assert route(home, text, ClusterHost("c", "a")).target.proxy_command == "nc a.ex.org 5 %"


def test_without_ssh_paramiko_reads_and_it_is_said(home: Path) -> None:
    config = home / "config"
    config.write_text(
        "Host maple\n HostName login.ex.org\n User me\n Port 2200\n ProxyJump g@gate\n"
    )
    reader = SshConfig(config_file=config, home=home)
    reader._ssh = None
    found = reader.route(ClusterHost("c", "maple"))
    assert found.source == "paramiko"
    assert [(hop.host, hop.port, hop.user) for hop in found.hops] == [
        ("gate", 22, "g"),
        ("login.ex.org", 2200, "me"),
    ]


def test_a_name_that_looks_like_an_option_is_a_name(home: Path) -> None:
    marker = home / "ran"
    with pytest.raises(SshError):
        route(home, "", ClusterHost("c", f"-oProxyCommand=touch {marker}"))
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "jumps"),
    [
        (None, ()),
        ("none", ()),
        ("a", (JumpHost("a"),)),
        ("u@a:22, b", (JumpHost("a", "u", 22), JumpHost("b"))),
        ("ssh://u@a:7/", (JumpHost("a", "u", 7),)),
        ("u@[::1]:7", (JumpHost("::1", "u", 7),)),
        ("u@x@a", (JumpHost("a", "u@x"),)),
    ],
)
def test_jump_hosts(text: str | None, jumps: tuple[JumpHost, ...]) -> None:
    assert parse_jumps(text) == jumps


@pytest.mark.parametrize("text", ["-oX", "a:port", "u@"])
def test_jump_hosts_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SshError, match="jump host"):
        parse_jumps(text)


def test_tokens() -> None:
    assert expand_tokens("%h-%%-%Z-%", {"h": "x", "%": "%"}) == "x-%-%Z-%"


def test_options_may_come_twice() -> None:
    assert parse_ssh_g("identityfile a\nidentityfile b\nport 1\n") == {
        "identityfile": ["a", "b"],
        "port": ["1"],
    }
