"""Jobs on a SLURM cluster.

``commands`` are text out and ``reading`` is text in, both pure; nothing here opens a connection.
"""
