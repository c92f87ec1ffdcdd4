"""Results as documents: numbers with units, curves, doubts, and where they come from."""
