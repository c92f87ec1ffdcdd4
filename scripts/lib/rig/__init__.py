"""Real daemons in places of their own, for benchmarks and soak runs: see ``place``."""
