"""Space that the database holds for its own small writes.

So a disk that others fill up does not keep a cancel or a removal from being recorded: free pages
inside the file, and a write-ahead log that is as long already, are overwritten in place. (On file
systems that never do that, such as btrfs and zfs, this is a help and no guarantee.)
Used by ``store``.
"""

from __future__ import annotations

import logging
from typing import Final

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

log = logging.getLogger(__name__)

RESERVED_PAGES: Final = 512
"""2 MiB with the usual pages; a move of a job writes about five."""
CHECKPOINT_PAGES: Final = RESERVED_PAGES // 2
"""When the log is so long it is folded into the file; the rest is for what comes meanwhile."""


def hold_space(engine: Engine) -> None:
    """Fill the log and the file once with blanks and give their pages free; a full disk is noted.

    Nothing is left of it but length: it may be repeated, and is at every start, because the log
    is removed when the database is closed.
    """
    try:
        with engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
            size = int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
            if mode != "wal":
                return  # the journal of the other modes is made anew for every write
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS blanks"))
            connection.execute(text("CREATE TABLE blanks (blank BLOB)"))
            blank = text("INSERT INTO blanks VALUES (zeroblob(:bytes))")
            connection.execute(blank, {"bytes": RESERVED_PAGES * size})
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE blanks"))
        with engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except DBAPIError as error:
        log.warning("no space is held for the database: %s", error.orig)
