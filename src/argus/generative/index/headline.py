"""What the build and the figures of an n-gram index say in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from argus.generative.index.summary import NgramBuildSummary, Spread, StatsSummary, TitleCounts


def build_headline(summary: NgramBuildSummary) -> Iterator[str]:
    """Yield what was indexed, what was left out, and where the index is."""
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
            "made before has to learn them (argus generative train)"
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


def stats_headline(summary: StatsSummary) -> Iterator[str]:
    """Yield how many passages, tokens, titles and n-grams an index holds."""
    passages, tokens = summary["passages"], summary["tokens"]
    yield (
        f"{passages['total']:,} passages of {_spread(passages['tokens'])} tokens; "
        f"{tokens['total']:,} tokens, {tokens['types']:,} of {tokens['vocabulary']:,} types"
    )
    yield f"{summary['bytes']['total']:,} bytes, {summary['bytes_per_token']:.2f} per token"
    yield from _titles(summary["titles"])
    if queries := summary["pseudo_queries"]:
        yield (
            f"{queries['queries']:,} pseudo-queries in {queries['passages']:,} passages, "
            f"{_spread(queries['per_passage'])} per passage"
        )
    yield ""
    yield f"{'n-gram':>6} {'distinct':>12} {'once':>7} {'in one passage':>15}"
    for row in summary["ngrams"]:
        distinct = row["distinct"]
        once, one = (
            f"{n / distinct:.1%}" if distinct else "-"
            for n in (row["singletons"], row["in_one_passage"])
        )
        yield f"{row['length']:>6} {distinct:>12,} {once:>7} {one:>15}"


def _titles(titles: TitleCounts | None) -> Iterator[str]:
    if titles is None:
        yield "passages have no titles"
        return
    if titles["tokens"]:
        yield f"{titles['distinct']:,} titles of {_spread(titles['tokens'])} tokens"
    if titles["without"]:
        yield f"{titles['without']:,} passages without title"
    if titles["repeated"]:
        most = titles["most_repeated"][0]
        yield (
            f"{titles['repeated']:,} titles are borne by several passages (most by "
            f"{most['passages']:,}: {most['title']})"
        )
    if titles["inside_others"]:
        first = titles["inside_examples"][0]
        yield (
            f"{titles['inside_others']:,} titles stand within others ({first['title']} in "
            f"{first['inside']})"
        )


def _spread(values: Spread | None) -> str:
    if values is None:
        return "no"
    return f"{values['min']:,}-{values['max']:,} (median {values['median']:,})"
