"""What people really ask: query logs, what was served for them, and demand that nobody meets."""
