"""`argus history`: what changed from run to run, by paired tests, and a page of trends."""
