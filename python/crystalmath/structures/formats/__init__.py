"""The formats of structure files: one reader each, and a writer where one is written here."""
