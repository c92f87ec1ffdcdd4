"""For all Python tests: how Hypothesis searches."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline per example: on a busy machine it would measure the machine. CI takes the same
# examples every time; at home the search goes on.
settings.register_profile("home", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "home")
