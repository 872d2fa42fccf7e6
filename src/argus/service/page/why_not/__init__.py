"""Why a document does not come back for a question, and what would bring it."""
