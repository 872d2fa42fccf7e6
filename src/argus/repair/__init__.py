"""`argus repair`: try the remedies there are, keep what is proven to help, undo the rest."""
