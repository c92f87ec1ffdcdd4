"""For all Python tests: signals as in the foreground, how Hypothesis searches, what runs now."""

from __future__ import annotations

import os
import signal
import sys

from hypothesis import settings

from suite import journal

# A shell starts background programs with these ignored, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# No deadline per example: on a busy machine it would measure the machine. CI takes the same
# examples every time; at home the search goes on.
settings.register_profile("home", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "home")


RECURSION_LIMIT = sys.getrecursionlimit()


def pytest_runtest_logstart(nodeid: str) -> None:
    journal.note("start", nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    journal.note("end", nodeid)
    # symfc, which phonopy loads, raises it so far that a later test of deep JSON would crash.
    sys.setrecursionlimit(RECURSION_LIMIT)
