"""The names that ``events.*`` has on the wire. Apart from its models, which are slow to load.

Used by ``server`` before it answers the first hello, and by ``contract.events``.
"""

from __future__ import annotations

from typing import Final

NOTIFY: Final = "events.notify"
SUBSCRIBE: Final = "events.subscribe"
CAPABILITY: Final = "events"
"""In ``capabilities`` of ``system.hello`` where events can be subscribed to."""
