"""Describe the build of an n-gram index in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from argus.generative.index.summary import NgramBuildSummary


def build_headline(summary: NgramBuildSummary) -> Iterator[str]:
    """Yield lines on the documents indexed and left out, and the place of the index."""
    passages, tokens = summary["passages"], summary["tokens"]
    if "added" in summary:
        added = summary["added"]
        yield f"added {added['passages']:,} passages, {added['unchanged']:,} were there"
    yield (
        f"{passages['total']:,} passages, {tokens['total']:,} tokens of {tokens['types']:,} types; "
        f"{summary['bytes']:,} bytes, {summary['bytes_per_token']:.2f} per token"
    )
    if passages["empty"]:
        more = ", ..." if passages["empty"] > len(passages["empty_ids"]) else ""
        named = ", ".join(passages["empty_ids"]) + more
        yield f"left out: {passages['empty']:,} without text or title ({named})"
    if passages["title_only"]:
        yield f"{passages['title_only']:,} passages have a title alone"
    if passages["untitled"]:
        yield f"{passages['untitled']:,} have no title"
    if tokens["unknown"]:
        yield (
            f"warning: {tokens['unknown']:,} tokens are unknown to the tokenizer: all n-grams with "
            "them look alike"
        )
    if summary["markers_added"]:
        yield (
            f"note: {summary['markers_added']} markers (@@, ||) are new to this tokenizer: a model "
            "made before has to learn them (argus research generative train)"
        )
    if queries := summary["pseudo_queries"]:
        elsewhere = ""
        if queries["elsewhere"]:
            elsewhere = f"; {queries['elsewhere']:,} documents are not here"
        yield (
            f"pseudo-queries: {queries['queries']:,} of {queries['documents']:,} "
            f"documents{elsewhere}"
        )
    yield f"index: {summary['index']} ({summary['seconds']:.1f} s)"
