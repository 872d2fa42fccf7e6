"""`argus research scenarios needs`: every document asked for by its own information needs."""
