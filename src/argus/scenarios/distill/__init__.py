"""Distillation (SPIKE §3.2, eq. 1): a small model learns to write what a large one wrote."""
