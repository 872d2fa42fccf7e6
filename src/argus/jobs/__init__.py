"""Parts that all jobs share: folder and record, encoder, engine, parts that resume."""
