"""`argus explain`: why a document does not come back for a question."""
