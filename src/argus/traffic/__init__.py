"""What people really ask: read, told which of it fails, and judged."""
