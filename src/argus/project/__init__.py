"""`argus init`: three questions, a connection that is tried, and a commented argus.toml."""
