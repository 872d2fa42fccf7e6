"""Predict which entities are hard to reach, repair their documents, and write the receipt."""
