"""The page to work in: server-rendered, htmx and Alpine beside it, nothing from elsewhere."""
