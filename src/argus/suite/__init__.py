"""Retrievers x remedies x tasks in one run, and the tables of the four papers beside ours."""
