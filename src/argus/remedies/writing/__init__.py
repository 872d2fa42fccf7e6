"""Remedies written into the stores that retrievers ask: records, writing, rollback, reach."""
