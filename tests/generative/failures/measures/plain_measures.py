"""Slow and plain: what some measures are, key by key, to compare the fast ones with."""

from argus.generative.failures.reading import words


def pairs(case, k=None):
    """Return (passage, n-gram's place, weight) of all keys of the first k passages."""
    return [
        (passage, place, weight)
        for passage in case.passages[:k]
        if passage.keys is not None
        for place, weight in zip(
            passage.keys.ngrams.tolist(), passage.keys.weights.tolist(), strict=True
        )
    ]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def table_17(case, k):
    """Return shares and mean weights of n-grams that tell correct from other passages."""
    keys = pairs(case, k) if case.judged else []
    right = {place for passage, place, _ in keys if passage.correct}
    wrong = {place for passage, place, _ in keys if not passage.correct}
    sets = {"correct": right - wrong, "wrong": wrong - right, "shared": right & wrong}
    row = {}
    for name, places in sets.items():
        row[f"keys_{name}"] = len(places) / len(right | wrong) if keys else None
        row[f"weight_{name}"] = mean(weight for _, place, weight in keys if place in places)
    return row


def scores(case):
    """Return the sums of weights by view, over all and over correct passages."""
    row = {}
    for end, chosen in (("", pairs(case)), ("_correct", [x for x in pairs(case) if x[0].correct])):
        for name, views in (("score", "title body query"), ("score_title", "title"),
                            ("score_query", "query")):  # fmt: skip
            full = "score_all" if name + end == "score" else name + end
            inside = [w for _, place, w in chosen if case.ngrams[place].view in views.split()]
            row[full] = sum(inside) if chosen else None
    return row


def gains(case):
    """Return both gains of an answer as title."""
    answers = [one for one in dict.fromkeys(words(a) for a in case.answers) if one]
    found = []
    for passage in case.passages:
        best = None
        for answer in answers:
            keys = [
                (case.ngrams[place].view, weight)
                for other, place, weight in pairs(case)
                if other is passage and case.ngrams[place].words == answer
            ]
            title = max((w for view, w in keys if view == "title"), default=None)
            other = max((w for view, w in keys if view != "title"), default=0)
            divides = title is not None and other > 0 and other >= 1e-12 * title
            if divides and (best is None or title > best[0]):
                best = title, other
        if best:
            found.append((passage.correct, best[0] / best[1] - 1))
    return {
        "answer_title_gain": mean(gain for _, gain in found),
        "answer_title_gain_correct": mean(gain for correct, gain in found if correct),
    }


def title_scores(case):
    """Return what titles weigh per passage that has one, in correct and other passages."""
    row = {}
    for name, wanted in (("correct", True), ("wrong", False)):
        sums = []
        for passage in case.passages if case.judged else ():
            titles = [w for other, place, w in pairs(case)
                      if other is passage and case.ngrams[place].view == "title"]  # fmt: skip
            if titles and bool(passage.correct) is wanted:
                sums.append(sum(titles))
        row[f"title_score_{name}"] = mean(sums)
    return row
