"""Explain why a document does not come back for a query: `argus explain`."""
