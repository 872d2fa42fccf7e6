"""Every command under kills, full disks and neighbours: `python -m benchmarks.faults`."""
