"""The page that tries repairs, applies one, shows its receipt, and undoes it."""
