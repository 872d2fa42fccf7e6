"""`argus diagnose`: which entities of new documents are at risk."""
