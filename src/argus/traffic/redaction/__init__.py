"""What people type and nobody should keep: found by pattern and checksum, replaced by a mark."""
