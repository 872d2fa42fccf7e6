"""Distillation (SPIKE §3.2, eq. 1): a small model learns to write as a large one did."""
