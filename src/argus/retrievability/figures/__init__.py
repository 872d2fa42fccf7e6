"""ARGUS' figures over the audits of several retrievers: one page, from folders alone."""
