"""CRYSTAL23: decks (``.d12``, ``.d3``) written, read and checked; runs; outputs read and judged."""
