"""Starts a worker, prints the guard's pid, waits to be killed: ``starter.py ROOT ENGINE CODE``."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.isolated import House

if __name__ == "__main__":
    process = House(Path(sys.argv[1])).start(sys.argv[2], "exec", sys.argv[3])
    print(process.pid, flush=True)
    time.sleep(600)
