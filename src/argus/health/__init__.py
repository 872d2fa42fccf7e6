"""`argus doctor`: machine, extras, documents, retriever, model; what to mend before a job."""
