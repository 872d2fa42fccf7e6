"""The receipt of a repair, by what is served: a retriever is asked before and after."""
