"""The page to work in: server-rendered, htmx beside it, nothing from elsewhere."""
