"""Ways to search the same documents (arms), measured on judged questions, and the one to take."""
