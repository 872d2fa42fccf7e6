"""A retriever of Argus, such as a repaired index, in the classes that other evaluators take."""
