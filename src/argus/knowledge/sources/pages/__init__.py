"""A folder of pages as a knowledge base: what each says, and where its links lead."""
