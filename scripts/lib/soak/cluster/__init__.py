"""Jobs on a real SLURM over SSH, while connections, daemons and SLURM itself are broken."""
