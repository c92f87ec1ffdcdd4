"""What a directory takes on the disk, and what it would take without hard links."""

from __future__ import annotations

import os
from pathlib import Path


def sizes_of(directory: Path) -> tuple[int, int]:
    """Return the bytes that are this directory's alone, and the sum of its files.

    A file with further names elsewhere (a hard link into the cache of downloads or another
    environment) is not its own.
    """
    own = apparent = 0
    inside: dict[tuple[int, int], list[int]] = {}
    stack = [directory]
    while stack:
        try:
            entries = list(os.scandir(stack.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    stack.append(Path(entry.path))
                    continue
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            apparent += info.st_size
            if info.st_nlink == 1:
                own += info.st_blocks * 512
            else:
                seen = inside.setdefault((info.st_dev, info.st_ino), [info.st_nlink, 0, 0])
                seen[1] += 1
                seen[2] = info.st_blocks * 512
    own += sum(size for links, names, size in inside.values() if names >= links)
    return own, apparent
