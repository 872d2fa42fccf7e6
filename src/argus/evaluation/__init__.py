"""Judged questions: `argus evaluate`, and beside it `compare` and `gate`."""
