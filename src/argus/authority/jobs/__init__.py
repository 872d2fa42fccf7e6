"""The jobs of controlling authority: audit, lint and search, and where records come from."""
