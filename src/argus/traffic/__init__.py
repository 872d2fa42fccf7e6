"""Audit query logs: questions, results, feedback, and unmet demand: `argus traffic`."""
