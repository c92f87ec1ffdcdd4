"""Jobs, their documents, dependencies, events, client tokens and the revision counter.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_STATES = (
    "'CREATED', 'STAGED', 'SUBMITTED', 'RUNNING', 'FINISHED', "
    "'COMPLETED', 'FAILED', 'CANCELLING', 'CANCELLED', 'LOST'"
)


def upgrade() -> None:
    """Create everything."""
    op.create_table(
        "counters",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Integer, nullable=False),
    )
    op.execute("INSERT INTO counters (name, value) VALUES ('rev', 0)")
    _create_jobs()
    op.create_table(
        "job_documents",
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("submission_json", sa.Text, nullable=False),
        sa.Column("prepared_json", sa.Text, nullable=False),
        sa.Column("resources_json", sa.Text, nullable=False),
        sa.Column("results_json", sa.Text, nullable=False, server_default="{}"),
        sa.Column("warnings_json", sa.Text, nullable=False, server_default="[]"),
        sa.Column("provenance_json", sa.Text, nullable=False, server_default="{}"),
    )
    op.create_table(
        "job_after",
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("parent_id", sa.Integer, primary_key=True),
    )
    op.create_index("job_after_parent", "job_after", ["parent_id"])
    op.create_table(
        "job_events",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("from_state", sa.Text),
        sa.Column("to_state", sa.Text),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("evidence_json", sa.Text, nullable=False, server_default="{}"),
        sqlite_autoincrement=True,
    )
    op.create_index("job_events_by_job", "job_events", ["job_id", "seq"])
    op.create_table(
        "client_tokens",
        sa.Column("token", sa.Text, primary_key=True),
        sa.Column(
            "job_id", sa.Integer, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("request_sha256", sa.Text, nullable=False),
    )


def _create_jobs() -> None:
    text = ("task", "engine", "model", "reason", "message", "hint")
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uuid", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in text[:3]),
        sa.Column("state", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in text[3:6]),
        sa.Column("runner", sa.Text, nullable=False),
        sa.Column("cluster", sa.Text),
        sa.Column("workflow", sa.Integer),
        sa.Column("formula", sa.Text),
        sa.Column("n_atoms", sa.Integer),
        sa.Column("scheduler_id", sa.Text),
        sa.Column("scheduler_state", sa.Text),
        sa.Column("scheduler_reason", sa.Text),
        sa.Column("science_status", sa.Text, nullable=False, server_default="unknown"),
        sa.Column("energy_ev", sa.Float),
        sa.Column("energy_per_atom_ev", sa.Float),
        sa.Column("converged", sa.Integer),
        sa.Column("progress_text", sa.Text, nullable=False, server_default=""),
        sa.Column("progress_fraction", sa.Float),
        sa.Column("attention", sa.Text),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sa.Column("walltime_s", sa.Float),
        sa.Column("tags_json", sa.Text, nullable=False, server_default="[]"),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("next_try_at", sa.Float),
        sa.Column("last_error", sa.Text),
        sa.Column("rerun_of", sa.Integer),
        sa.Column("rev", sa.Integer, nullable=False),
        sa.CheckConstraint(f"state IN ({_STATES})", name="jobs_state"),
        sqlite_autoincrement=True,
    )
    op.create_index("jobs_by_state", "jobs", ["state", "id"])
    op.create_index("jobs_by_code", "jobs", ["code", "id"])
    op.create_index("jobs_by_workflow", "jobs", ["workflow"])
