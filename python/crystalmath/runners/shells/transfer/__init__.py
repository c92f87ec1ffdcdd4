"""Files to a host and back: each complete and verified, or not at all."""
