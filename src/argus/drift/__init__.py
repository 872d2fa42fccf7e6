"""Compare what is indexed with the sources that it was made of."""
