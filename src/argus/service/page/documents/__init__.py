"""The documents of a folder: a table of a million rows, and a page of each."""
