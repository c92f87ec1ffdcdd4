"""Code ``crystal``: CRYSTAL14, 17 and 23, from a deck to the numbers of its output.

``adapter`` is what the daemon uses; ``output`` reads what the program printed, ``run`` stages it,
starts it and collects what it left. Nothing in this folder loads a numerical library: decks and
outputs are text.
"""
