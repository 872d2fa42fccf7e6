"""Exit codes of the command line beside 0 done, 1 a gate failed, 2 could not measure."""

INTERRUPTED = 130
"""After Ctrl-C, as shells have it: 128 and the signal's number."""
GONE = 141
"""Who reads what is printed has gone: 128 and SIGPIPE."""
