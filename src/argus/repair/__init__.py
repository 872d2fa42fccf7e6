"""`argus repair`: try remedies on a copy of an index, keep the one that is proven to help."""
