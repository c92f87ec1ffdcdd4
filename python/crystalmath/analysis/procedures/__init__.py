"""What the steps of workflows compute: JSON in and out, run by worker processes."""
