"""Pages to work in: rendered by the server, with htmx, and nothing from elsewhere."""
