"""What an output of CRYSTAL says: read once, also while it grows, then judged."""
