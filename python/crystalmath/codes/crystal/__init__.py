"""CRYSTAL: its decks (``.d12``), geometry files (``.gui``) and properties decks (``.d3``)."""
