"""Vector stores where they stand: read, searched and written in place, nothing copied."""
