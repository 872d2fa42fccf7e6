"""`argus compare`: what one of two encoders, indexes, runs or folders gains and loses."""
