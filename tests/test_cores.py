"""Threads that stay, and what becomes of them in another process."""

from __future__ import annotations

import subprocess
import sys

FORKED = """
import os, sys, warnings
from argus.cores import worker_threads
warnings.simplefilter("ignore", DeprecationWarning)
assert sum(worker_threads().map(abs, [-1, 2])) == 3
assert worker_threads() is worker_threads()
child = os.fork()
if not child:
    os._exit(sum(worker_threads().map(abs, [-3, 4])))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_has_threads_of_its_own():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60).returncode == 7
