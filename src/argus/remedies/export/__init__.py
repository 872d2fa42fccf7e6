"""A remedy handed out as files, for a store or a search engine that Argus does not write to."""
