"""`argus serve`: the service and the page over folders of results, indexes and retrievers."""
