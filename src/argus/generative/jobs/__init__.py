"""Searches of an n-gram index: the job, its answers on disk, its files and its section."""
