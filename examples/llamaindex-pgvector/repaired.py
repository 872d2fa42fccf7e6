"""The repair in the place of what was there, as LlamaIndex takes it."""

import os

import argus

blend = argus.BlendedRetriever(
    f"pgvector:{os.environ['HANDBOOK']}/data_handbook_argus", encoder="all-MiniLM-L6-v2"
)
retriever = blend.as_llama_index()
