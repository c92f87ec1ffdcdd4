"""Programs on this machine, each under a small supervisor that outlives the daemon.

``runner`` is the side of the daemon. ``supervisor`` is the script that a run is started with; it
loads ``supervision`` and the modules beneath it as the package ``local``, so these import each
other only relatively and only from the standard library. Nothing is imported here.
"""
