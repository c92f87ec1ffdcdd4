"""Clusters, what is known of jobs on them, and the evidence of it.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create everything."""
    op.execute("INSERT INTO counters (name, value) VALUES ('poll', 0)")
    op.create_table(
        "clusters",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("record_json", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("unreachable_since", sa.Float),
        sa.Column("polled_at", sa.Float),
        sa.Column("probe_json", sa.Text, nullable=False, server_default="{}"),
        sqlite_autoincrement=True,
    )
    _create_remote_jobs()
    op.create_table(
        "evidence",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("poll", sa.Integer),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("observation_json", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("evidence_by_job", "evidence", ["job_id", "seq"])


def _create_remote_jobs() -> None:
    op.create_table(
        "remote_jobs",
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("cluster_id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("directory", sa.Text),
        sa.Column("owner", sa.Text),
        sa.Column("scheduler_id", sa.Integer),
        sa.Column("scheduler_cluster", sa.Text),
        sa.Column("claim", sa.Integer, nullable=False, server_default="0"),
        sa.Column("handed_over_at", sa.Float),
        sa.Column("doubted_at", sa.Float),
        sa.Column("adopted", sa.Integer, nullable=False, server_default="0"),
        sa.Column("rests_on_words", sa.Integer, nullable=False, server_default="0"),
        sa.Column("collected", sa.Integer, nullable=False, server_default="0"),
        sa.Column("lost_at", sa.Float),
        sa.Column("end_json", sa.Text, nullable=False, server_default="{}"),
    )
    op.create_index("remote_jobs_by_cluster", "remote_jobs", ["cluster_id", "scheduler_id"])
