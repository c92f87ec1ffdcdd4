"""Where programs run: this machine, and later clusters."""
