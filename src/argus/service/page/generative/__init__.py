"""Answers of a generative search: the n-grams that found them, and what the beam dropped."""
