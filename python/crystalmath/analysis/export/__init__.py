"""Results as files for other programs: name → text. Nothing here writes a file."""
