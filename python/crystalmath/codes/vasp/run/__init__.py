"""From a request to a job: its files, the potentials it needs, the script that runs it."""
