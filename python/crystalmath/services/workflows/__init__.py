"""Workflows: durable graphs of steps on top of jobs."""
