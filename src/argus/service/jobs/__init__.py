"""Commands of Argus that the service starts, watches, cancels and resumes."""
