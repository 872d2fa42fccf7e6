"""The two lines that serve the repair in the place of what was there."""

import argus

retriever = argus.BlendedRetriever("chroma:store/handbook_argus", encoder="all-MiniLM-L6-v2")
