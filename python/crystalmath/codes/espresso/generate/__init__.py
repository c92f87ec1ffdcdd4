"""Decks of pw.x for structures."""
