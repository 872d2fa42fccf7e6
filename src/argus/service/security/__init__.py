"""What keeps the service safe: headers, tokens, limits."""
