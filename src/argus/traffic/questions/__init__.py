"""Different questions, one by one: which are alike, what came for them, what supports them."""
