"""Code ``espresso``: pw.x of Quantum ESPRESSO, from a deck that exists.

``adapter`` is what the daemon uses. Nothing in this folder loads a numerical library: decks and
outputs are text.
"""
