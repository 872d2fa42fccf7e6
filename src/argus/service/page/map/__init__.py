"""The projection of all documents with their bands, linked to the table of them."""
