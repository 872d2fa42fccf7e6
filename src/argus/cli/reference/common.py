"""Texts of keys."""
COMMON: dict[str, str] = {}
