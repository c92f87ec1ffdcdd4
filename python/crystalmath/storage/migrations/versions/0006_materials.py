"""Structures that the user has taken in.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "materials",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("formula", sa.Text, nullable=False),
        sa.Column("n_atoms", sa.Integer, nullable=False),
        sa.Column("space_group", sa.Integer),
        sa.Column("content_hash", sa.Text, nullable=False, unique=True),
        sa.Column("fingerprint_json", sa.Text, nullable=False),
        sa.Column("structure_json", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sqlite_autoincrement=True,
    )
