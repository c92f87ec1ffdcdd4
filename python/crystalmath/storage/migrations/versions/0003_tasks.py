"""Tasks of job arrays, and what jobs used of their machines.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables; jobs that ended before are not asked for their usage."""
    op.create_table(
        "job_tasks",
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("task", sa.Integer, primary_key=True),
        sa.Column("state", sa.Text, nullable=False, server_default="CREATED"),
        sa.Column("reason", sa.Text),
        sa.Column("message", sa.Text),
        sa.Column("scheduler_state", sa.Text),
        sa.Column("nodes", sa.Text),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
        sa.Column("started_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sa.Column("energy_ev", sa.Float),
        sa.Column("cancel_asked", sa.Integer, nullable=False, server_default="0"),
        sa.Column("rests_on_words", sa.Integer, nullable=False, server_default="0"),
        sa.Column("max_rss_kib", sa.Float),
        sa.Column("cpu_s", sa.Float),
        sa.Column("end_json", sa.Text, nullable=False, server_default="{}"),
    )
    op.create_table(
        "job_usage",
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("cpu_s", sa.Float),
        sa.Column("max_rss_kib", sa.Float),
        sa.Column("elapsed_s", sa.Float),
        sa.Column("n_cpus", sa.Integer),
        sa.Column("core_s", sa.Float),
        sa.Column("source", sa.Text, nullable=False),
    )
    op.add_column("remote_jobs", sa.Column("array", sa.Text))
    op.add_column("remote_jobs", sa.Column("usage_asked_at", sa.Float))
    op.execute(
        "UPDATE remote_jobs SET usage_asked_at = 0 WHERE job_id IN "
        "(SELECT id FROM jobs WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED'))"
    )
