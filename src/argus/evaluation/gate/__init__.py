"""`argus gate`: figures of results against bounds, an exit code for CI."""
