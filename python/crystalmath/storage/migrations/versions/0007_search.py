"""What providers of structures on the network gave.

A migration is frozen once it is published: it spells the schema out and imports nothing of the
program, so that later changes of ``tables`` do not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "search_answers",
        sa.Column("provider", sa.Text, primary_key=True),
        sa.Column("question", sa.Text, primary_key=True),
        sa.Column("keys_json", sa.Text, nullable=False),
        sa.Column("more", sa.Integer, nullable=False, server_default="0"),
        sa.Column("retrieved_at", sa.Float, nullable=False),
    )
    op.create_index("search_answers_by_age", "search_answers", ["retrieved_at"])
    op.create_table(
        "found_materials",
        sa.Column("provider", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("entry_json", sa.Text, nullable=False),
        sa.Column("retrieved_at", sa.Float, nullable=False),
    )
    op.create_index("found_materials_by_age", "found_materials", ["retrieved_at"])
