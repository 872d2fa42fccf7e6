"""A blend of an index: sentence views, hub correction and BM25, mixed into its search."""
