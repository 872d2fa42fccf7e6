"""Two systems side by side for one question, and what the corpus gains and loses."""
