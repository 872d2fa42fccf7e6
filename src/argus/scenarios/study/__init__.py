"""Which result people prefer: sheets for a blind study, and their results (SPIKE §4.3, C.4)."""
