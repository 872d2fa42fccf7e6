"""Read a folder of pages as a knowledge base: paragraphs and links."""
