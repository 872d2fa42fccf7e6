"""`argus demo`: every job on the documentation of Python's standard library."""
