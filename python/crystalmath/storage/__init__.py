"""The database: SQLAlchemy Core on SQLite, migrated by Alembic. Implements ``services.store``."""
