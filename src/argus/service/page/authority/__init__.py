"""What is in force and what is superseded: chains on a time line, at any date."""
