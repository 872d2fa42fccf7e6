"""`argus doctor`: faults of machine, extras, documents, retriever and model before a job."""
