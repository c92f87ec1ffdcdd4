"""A deck as text: its records, blocks and sections, read without loss."""
