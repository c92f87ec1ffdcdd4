"""What programs leave as XML: the structure that a calculation ended with."""
