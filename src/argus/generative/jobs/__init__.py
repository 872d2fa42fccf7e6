"""Jobs of n-gram generative retrieval: build, train, search, stats."""
