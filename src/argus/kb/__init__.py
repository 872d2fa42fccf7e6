"""`argus kb build`: dumps and other sources in, a knowledge base out (docs/knowledge.md)."""
