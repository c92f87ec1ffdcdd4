"""``clusters.login`` of a real daemon: what was answered is nowhere but in its memory."""

from __future__ import annotations

from pathlib import Path

from support.daemon import Daemon
from support.planted import Listener, places_of
from support.ssh_server import Doorkeeper, ssh_server

PASSWORD = "planted-password-8842"
WRONG = "planted-wrong-5177"
CODE = "planted-code-9031"


def test_a_password_and_a_code_are_found_nowhere(daemon: Daemon, tmp_path: Path) -> None:
    rounds = [([("Password: ", False)], [PASSWORD]), ([("Code: ", False)], [CODE])]
    daemon.start(env={"CRYSTALMATH_START_TIMEOUT": "120"})
    listener = Listener(daemon)
    with ssh_server(tmp_path, Doorkeeper(rounds=rounds)) as (host, _config):
        listener.call("events.subscribe", {"topics": ["clusters"]})
        fields = {"hostname": host.hostname, "port": host.port, "username": host.username}
        record = {"name": "maple", "kind": "ssh", "remote_workdir": "~/w", **fields}
        assert listener.call("clusters.create", record)["status"] == "inactive"
        assert listener.call("clusters.login", {"id": "maple"}) is None
        assert listener.error["data"]["kind"] == "host_key_unknown"
        report = listener.call("clusters.test", {"id": "maple"})
        key = {"id": "maple", "fingerprint": report["host_key"]["fingerprint"]}
        assert listener.call("clusters.accept_host_key", key)["known"]

        begun = listener.call("clusters.login", {"id": "maple"})
        assert listener.answer("maple", begun, [WRONG]) is None
        assert listener.error["data"]["kind"] == "auth_refused"
        refused = listener.call("clusters.get", {"id": "maple"})
        assert (refused["status"], refused["connection"]["state"]) == ("error", "needs_user")

        begun = listener.call("clusters.login", {"id": "maple"})
        assert begun["prompts"] == [{"text": "Password:", "echo": False}]
        more = listener.answer("maple", begun, [PASSWORD])
        assert [one["text"] for one in more["prompts"]] == ["Code:"]
        assert listener.answer("maple", more, [CODE])["done"]
        well = listener.call("clusters.get", {"id": "maple"})
        assert (well["last_error"], well["connection"]["state"]) == (None, "ok")
        for odd in ({"password": PASSWORD}, {"answers": PASSWORD}, {"answers": [PASSWORD]}):
            listener.call("clusters.login", {"id": "maple", **odd})
            assert listener.error["code"] == -32602
        listener.call("clusters.update", {"id": "maple", "password": PASSWORD})
        told = [
            event["cluster"]["last_error"]
            for message in listener.heard
            if message.get("method") == "events.notify"
            for event in message["params"]["events"]
        ]
        assert told
        assert places_of([PASSWORD, WRONG, CODE], daemon, listener) == []
    listener.close()
    rows = daemon.call("system.status")["clusters"]
    assert [row["name"] for row in rows] == ["maple"]
    checks = daemon.call("system.doctor")["checks"]
    assert [one["ok"] for one in checks if one["name"] == "cluster maple"] == [True]
