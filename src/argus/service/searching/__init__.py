"""What the service keeps warm: an index or a retriever, and the records that say what controls."""
