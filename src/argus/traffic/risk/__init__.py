"""How likely it is that what came back for a question holds nothing relevant."""
