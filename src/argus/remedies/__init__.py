"""Diagnose which documents are at risk, repair them by more views, and write the receipt."""
