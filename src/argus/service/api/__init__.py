"""What programs ask of the service: search, explain, resolve, retrieve, take records, tell."""
