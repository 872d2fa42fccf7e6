"""Logs of any shape, to one record: a question, what came for it, what people made of it."""
