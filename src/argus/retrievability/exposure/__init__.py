"""`argus check`: every document asked for by its title and its own sentences."""
