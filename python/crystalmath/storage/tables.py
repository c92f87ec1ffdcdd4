"""The tables as they are now. Migrations bring an older database here; a test compares the two.

Times are seconds since the epoch (UTC). Columns that end in ``_json`` hold JSON text. The list
path reads ``jobs`` alone, so everything large is in ``job_documents``.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from crystalmath.domain.states import STATES
from crystalmath.domain.workflow_states import STEP_STATES, WORKFLOW_STATES

metadata = MetaData()


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_STATE_LIST = _listed(STATES)

counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("task", Text),
    Column("engine", Text),
    Column("model", Text),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("message", Text),
    Column("hint", Text),
    Column("runner", Text, nullable=False),
    Column("cluster", Text),
    Column("workflow", Integer),
    Column("formula", Text),
    Column("n_atoms", Integer),
    Column("scheduler_id", Text),
    Column("scheduler_state", Text),
    Column("scheduler_reason", Text),
    Column("science_status", Text, nullable=False, server_default="unknown"),
    Column("energy_ev", Float),
    Column("energy_per_atom_ev", Float),
    Column("converged", Integer),
    Column("progress_text", Text, nullable=False, server_default=""),
    Column("progress_fraction", Float),
    Column("attention", Text),
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("finished_at", Float),
    Column("walltime_s", Float),
    Column("tags_json", Text, nullable=False, server_default="[]"),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("next_try_at", Float),
    Column("last_error", Text),
    Column("rerun_of", Integer),
    Column("rev", Integer, nullable=False),
    CheckConstraint(f"state IN ({_STATE_LIST})", name="jobs_state"),
    Index("jobs_by_state", "state", "id"),
    Index("jobs_by_code", "code", "id"),
    Index("jobs_by_workflow", "workflow"),
    sqlite_autoincrement=True,
)

job_documents = Table(
    "job_documents",
    metadata,
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("submission_json", Text, nullable=False),
    Column("prepared_json", Text, nullable=False),
    Column("resources_json", Text, nullable=False),
    Column("results_json", Text, nullable=False, server_default="{}"),
    Column("warnings_json", Text, nullable=False, server_default="[]"),
    Column("provenance_json", Text, nullable=False, server_default="{}"),
)

job_after = Table(
    "job_after",
    metadata,
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("parent_id", Integer, primary_key=True),
    Index("job_after_parent", "parent_id"),
)

job_events = Table(
    "job_events",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("at", Float, nullable=False),
    Column("from_state", Text),
    Column("to_state", Text),
    Column("why", Text, nullable=False),
    Column("evidence_json", Text, nullable=False, server_default="{}"),
    Index("job_events_by_job", "job_id", "seq"),
    sqlite_autoincrement=True,
)

client_tokens = Table(
    "client_tokens",
    metadata,
    Column("token", Text, primary_key=True),
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("request_sha256", Text, nullable=False),
)

clusters = Table(
    "clusters",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False, unique=True),
    Column("record_json", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("last_error", Text),
    Column("unreachable_since", Float),
    Column("polled_at", Float),
    Column("probe_json", Text, nullable=False, server_default="{}"),
    sqlite_autoincrement=True,
)

remote_jobs = Table(
    "remote_jobs",
    metadata,
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("cluster_id", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("directory", Text),
    Column("owner", Text),
    Column("scheduler_id", Integer),
    Column("scheduler_cluster", Text),
    Column("claim", Integer, nullable=False, server_default="0"),
    Column("handed_over_at", Float),
    Column("doubted_at", Float),
    Column("adopted", Integer, nullable=False, server_default="0"),
    Column("rests_on_words", Integer, nullable=False, server_default="0"),
    Column("collected", Integer, nullable=False, server_default="0"),
    Column("lost_at", Float),
    Column("end_json", Text, nullable=False, server_default="{}"),
    Column("array", Text),
    Column("usage_asked_at", Float),
    Index("remote_jobs_by_cluster", "cluster_id", "scheduler_id"),
)
"""What is known of a job's other side. ``claim`` counts the hand-overs: 0 is none."""

evidence = Table(
    "evidence",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("poll", Integer),
    Column("phase", Text, nullable=False),
    Column("observation_json", Text, nullable=False),
    Index("evidence_by_job", "job_id", "seq"),
    sqlite_autoincrement=True,
)

materials = Table(
    "materials",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False),
    Column("formula", Text, nullable=False),
    Column("n_atoms", Integer, nullable=False),
    Column("space_group", Integer),
    Column("content_hash", Text, nullable=False, unique=True),
    Column("fingerprint_json", Text, nullable=False),
    Column("structure_json", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    sqlite_autoincrement=True,
)
"""Structures that the user has taken in."""

search_answers = Table(
    "search_answers",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("question", Text, primary_key=True),
    Column("keys_json", Text, nullable=False),
    Column("more", Integer, nullable=False, server_default="0"),
    Column("retrieved_at", Float, nullable=False),
    Index("search_answers_by_age", "retrieved_at"),
)
"""What providers on the network answered: the keys of the structures, in their order."""

found_materials = Table(
    "found_materials",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("entry_json", Text, nullable=False),
    Column("retrieved_at", Float, nullable=False),
    Index("found_materials_by_age", "retrieved_at"),
)
"""Structures that providers on the network gave."""

job_tasks = Table(
    "job_tasks",
    metadata,
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("task", Integer, primary_key=True),
    Column("state", Text, nullable=False, server_default="CREATED"),
    Column("reason", Text),
    Column("message", Text),
    Column("scheduler_state", Text),
    Column("nodes", Text),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("started_at", Float),
    Column("finished_at", Float),
    Column("energy_ev", Float),
    Column("cancel_asked", Integer, nullable=False, server_default="0"),
    Column("rests_on_words", Integer, nullable=False, server_default="0"),
    Column("max_rss_kib", Float),
    Column("cpu_s", Float),
    Column("end_json", Text, nullable=False, server_default="{}"),
)
"""Tasks of job arrays."""

job_usage = Table(
    "job_usage",
    metadata,
    Column("job_id", Integer, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("cpu_s", Float),
    Column("max_rss_kib", Float),
    Column("elapsed_s", Float),
    Column("n_cpus", Integer),
    Column("core_s", Float),
    Column("source", Text, nullable=False),
)
"""What jobs used of their machines, where that is known."""

workflows = Table(
    "workflows",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("message", Text),
    Column("hint", Text),
    Column("engine", Text),
    Column("model", Text),
    Column("formula", Text),
    Column("n_atoms", Integer),
    Column("spec_json", Text, nullable=False),
    Column("warnings_json", Text, nullable=False, server_default="[]"),
    Column("results_hash", Text, ForeignKey("artefacts.hash")),
    Column("cancel_asked", Integer, nullable=False, server_default="0"),
    Column("token", Text, unique=True),
    Column("request_sha256", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("rev", Integer, nullable=False),
    CheckConstraint(f"state IN ({_listed(WORKFLOW_STATES)})", name="workflows_state"),
    Index("workflows_by_state", "state", "id"),
    sqlite_autoincrement=True,
)

workflow_steps = Table(
    "workflow_steps",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("workflow_id", Integer, ForeignKey("workflows.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("action_json", Text, nullable=False),
    Column("uses_json", Text, nullable=False),
    Column("after_json", Text, nullable=False),
    Column("required", Integer, nullable=False),
    Column("jobs_json", Text, nullable=False, server_default="[]"),
    Column("job_id", Integer),
    Column("input_hash", Text),
    Column("output_hash", Text, ForeignKey("artefacts.hash")),
    Column("reused", Text),
    Column("reason", Text),
    Column("message", Text),
    Column("hint", Text),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("next_try_at", Float),
    Column("started_at", Float),
    Column("finished_at", Float),
    CheckConstraint(f"state IN ({_listed(STEP_STATES)})", name="workflow_steps_state"),
    UniqueConstraint("workflow_id", "name"),
    Index("workflow_steps_by_state", "state", "kind"),
    sqlite_autoincrement=True,
)
"""``job_id`` is the job of the present attempt, ``jobs_json`` lists those of all attempts."""

artefacts = Table(
    "artefacts",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("document", Text, nullable=False),
    Column("created_at", Float, nullable=False),
)
"""What steps are given and give: JSON in its one form, under its SHA-256."""
