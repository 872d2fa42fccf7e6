"""Supersessions proposed from what records say: clues, confidences, and a person's decisions."""
