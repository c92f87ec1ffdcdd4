"""The daemon: one process per user that owns the jobs, the clusters and the database.

Bytes come in over a Unix socket and leave as JSON-RPC 2.0; what a method does is the services'
business, reached through ``api``. The entry point is ``cli``; ``lifecycle`` runs the daemon.
Importing this package loads nothing.
"""
