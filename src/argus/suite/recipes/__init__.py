"""`argus reproduce`: the tables of the four papers, measured beside published."""
