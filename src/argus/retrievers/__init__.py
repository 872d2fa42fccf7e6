"""Ask any retriever that you run, through one interface: queries in, ranked ids out."""
