"""Connections to hosts: run, put, get, tail. They know no scheduler and no job."""
