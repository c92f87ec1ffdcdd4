"""Decks from structures, checked by reading them back."""
