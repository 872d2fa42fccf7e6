"""A log on disk while it is looked at: different questions, lists, and who asked when."""
