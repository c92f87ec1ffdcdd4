"""Workflows, their steps, and what steps give.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0007"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "artefacts",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_table(
        "workflows",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uuid", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("hint", sa.Text),
        sa.Column("engine", sa.Text),
        sa.Column("model", sa.Text),
        sa.Column("formula", sa.Text),
        sa.Column("n_atoms", sa.Integer),
        sa.Column("spec_json", sa.Text, nullable=False),
        sa.Column("warnings_json", sa.Text, nullable=False, server_default="[]"),
        sa.Column("results_hash", sa.Text, sa.ForeignKey("artefacts.hash")),
        sa.Column("cancel_asked", sa.Integer, nullable=False, server_default="0"),
        sa.Column("token", sa.Text, unique=True),
        sa.Column("request_sha256", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float),
        sa.Column("rev", sa.Integer, nullable=False),
        sa.CheckConstraint(
            "state IN ('RUNNING', 'WAITING', 'COMPLETED', 'FAILED', 'CANCELLED')",
            name="workflows_state",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("workflows_by_state", "workflows", ["state", "id"])
    _create_steps()
    op.execute("INSERT INTO counters (name, value) VALUES ('workflow_rev', 0)")


def _create_steps() -> None:
    op.create_table(
        "workflow_steps",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("workflow_id", sa.Integer, sa.ForeignKey("workflows.id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
        sa.Column("action_json", sa.Text, nullable=False),
        sa.Column("uses_json", sa.Text, nullable=False),
        sa.Column("after_json", sa.Text, nullable=False),
        sa.Column("required", sa.Integer, nullable=False),
        sa.Column("jobs_json", sa.Text, nullable=False, server_default="[]"),
        sa.Column("job_id", sa.Integer),
        sa.Column("input_hash", sa.Text),
        sa.Column("output_hash", sa.Text, sa.ForeignKey("artefacts.hash")),
        sa.Column("reused", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("message", sa.Text),
        sa.Column("hint", sa.Text),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("next_try_at", sa.Float),
        sa.Column("started_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sa.CheckConstraint(
            "state IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')",
            name="workflow_steps_state",
        ),
        sa.UniqueConstraint("workflow_id", "name"),
        sqlite_autoincrement=True,
    )
    op.create_index("workflow_steps_by_state", "workflow_steps", ["state", "kind"])
