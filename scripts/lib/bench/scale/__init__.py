"""Ten thousand jobs on ten clusters, by scripted SLURM commands: see ``run``."""
