"""Job arrays: one job with a row and a folder for each task."""
