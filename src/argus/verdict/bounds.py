"""Where each count is good and where it is bad: declared here, once, with the reason."""

from __future__ import annotations

from argus.verdict.summary import CountBounds

BY_ITSELF = CountBounds(
    good=0.999,
    bad=0.99,
    why="An exact search brings every record back for its own vector. A store that lost 22 of "
    "2,000 after deletions (98.9%) was seen to be broken.",
)
HELD_OUT = CountBounds(
    good=0.63,
    bad=0.47,
    why="By comparison alone: all-MiniLM-L6-v2 finds 63.0% on wiki2, 55.2% on cranfield and 47.2% "
    "on Python's documentation (docs/results.md, Exposure).",
)
LEFT_IN = CountBounds(
    good=0.95,
    bad=0.8,
    why="A convention: the sentence stands in the document word for word, so that nearly every one "
    "should find it.",
)
NEEDED = CountBounds(
    good=0.9,
    bad=0.7,
    why="A convention: at most one in ten without an answer is good, three in ten are bad. MiniLM "
    "on Python's documentation: 82.3% of 504 documents come back for some need of theirs "
    "(docs/results.md, Scenarios).",
)
ANSWERED = CountBounds(
    good=0.9,
    bad=0.7,
    why="A convention: one question in ten without an answer is good, three in ten are bad.",
)
SUPERSEDED = CountBounds(
    good=0.94,
    bad=0.75,
    why="The second stage of argus authority search brings 94% to what controls them, plain MiniLM "
    "26% (docs/results.md, Superseded documents). Three in four is bad by convention.",
)
STALE = CountBounds(
    good=1.0,
    bad=0.95,
    why="Nothing superseded has to be served at all: filtering by the rules removes it.",
)

BLEND_GAIN = 0.051
"""nDCG@10 that the blend gained in the mean of the collections where it was measured."""
BLEND_MEASURED = (
    "On nine judged collections it gained nDCG@10 +0.051 (+0.043 to +0.060) in the mean, "
    "min-max 0.3 +0.040, 0.5 +0.045, RRF (60) +0.034, DBSF +0.043, "
    "the best fixed fusion of each +0.053 (docs/results/blend.md)"
)
"""What the blend gained where it was measured, beside its rivals on the same vectors."""
VIEWS_GAIN = 0.022
"""What its sentences and hubs gained there, which a store serves by itself."""
