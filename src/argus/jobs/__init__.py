"""What every job shares: folder and record, encoder, engine, parts that resume."""
