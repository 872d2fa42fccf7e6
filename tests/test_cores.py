"""Threads that stay, and what becomes of them in another process."""

from __future__ import annotations

import subprocess
import sys

FORKED = """
import os, sys, threading, warnings
from argus.cores import available_cores, worker_threads
warnings.simplefilter("ignore", DeprecationWarning)
all_there = threading.Barrier(available_cores())
list(worker_threads().map(lambda _: all_there.wait(), range(available_cores())))
assert worker_threads() is worker_threads()
child = os.fork()
if not child:
    os._exit(sum(worker_threads().map(abs, [-3, 4])))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_has_threads_of_its_own():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=30).returncode == 7
