"""Which result people prefer: sheets for a blind study, and what they say (SPIKE §4.3, C.4)."""
