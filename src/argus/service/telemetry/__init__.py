"""What is kept of requests: metrics, a log without texts, spans of retrievals."""
