"""Evidence aggregation in plain Python: oracle and baseline.

The reading of docs/generative.md (thesis, eqs. 1-3).

Dictionaries, sets, tuples and loops; the index is asked in the same batches as by the kernels.
"""

import math
from collections import defaultdict
from heapq import nsmallest
from itertools import pairwise


def plain_weight(key, count, n_tokens, query_start, scoring):
    """Eq. 2 with smoothing, to the power alpha; 0 for what does not occur."""
    if count == 0:
        return 0.0
    log = lifted(key, query_start, scoring)
    log = (log - 1e-10) * (1 - scoring.length_penalty) ** (len(key.tokens) - 1)
    return log_odds(log, count, n_tokens, scoring.smoothing) ** scoring.exponent


def plain_weights(keys, counts, n_tokens, query_start, scoring):
    """Weights of all keys."""
    return [
        plain_weight(key, count, n_tokens, query_start, scoring)
        for key, count in zip(keys, counts, strict=True)
    ]


def lifted(key, query_start, scoring):
    """MINDER's bonus for pseudo-queries; SEAL has none, nor its ceiling."""
    if scoring.query_bonus and key.tokens[0] == query_start:
        return min(key.log_probability + scoring.query_bonus, -1.0)
    return key.log_probability


def log_odds(log, count, n_tokens, smoothing):
    """The positive part of a log odds ratio."""
    share = (count + smoothing) / (n_tokens + smoothing)
    if share == 1 or log == -math.inf:
        return 0.0
    unlikely = math.log1p(-math.exp(log)) if log < -1 else math.log(-math.expm1(log))
    return max(0.0, (log + math.log1p(-share)) - (math.log(share) + unlikely))


def plain_unigrams(log_probabilities, counts, n_tokens, excluded, scoring):
    """Weights of the most probable single tokens that occur: {token: weight}."""
    logs = log_probabilities.tolist()
    best = nsmallest(scoring.most_unigrams, range(len(logs)), key=lambda t: (-logs[t], t))
    weights = {}
    for token in best:
        if token in excluded or not counts[token]:
            continue
        log = min(logs[token], -1e-10)
        weight = log_odds(log, counts[token], n_tokens, scoring.smoothing)
        if weight > 0:
            weights[token] = weight
    return weights


def plain_aggregate(index, keys, log_probabilities, scoring, k):
    """Everything: [(document, score, [(tokens, count, weight)])], the best k."""
    first = {}
    for key in keys:
        first.setdefault(key.tokens, key)
    keys = list(first.values())
    markers = index.vocabulary
    counts = [int(c) for c in index.counts([key.tokens for key in keys])] if keys else []
    weights = plain_weights(keys, counts, index.n_tokens, markers.query_start, scoring)
    unigrams, unigram_counts = {}, {}
    if log_probabilities is not None:
        tokens, times = index.continuations(())
        unigram_counts = dict.fromkeys(range(len(log_probabilities)), 0)
        unigram_counts |= dict(zip(tokens.tolist(), times.tolist(), strict=True))
        excluded = {key.tokens[0] for key in keys if len(key.tokens) == 1}
        excluded |= {markers.border, markers.pad, markers.unknown}
        unigrams = plain_unigrams(
            log_probabilities, unigram_counts, index.n_tokens, excluded, scoring
        )
    weighted = [
        (key.tokens, weight, count)
        for key, weight, count in zip(keys, weights, counts, strict=True)
    ]
    return plain_evidence(index, weighted, unigrams, unigram_counts, scoring, k)


def plain_evidence(index, weighted, unigrams, unigram_counts, scoring, k):
    """Steps 2 (second half) to 7 from weights. weighted: [(tokens, weight, count)]."""
    best = sorted(unigrams, key=lambda t: (-unigrams[t], t))[: len(weighted)]
    weighted = weighted + [((t,), unigrams[t], unigram_counts[t]) for t in best]
    kept = [w for w in weighted if w[1] > 0 and w[2] > 0]
    rare = [w for w in kept if w[2] <= scoring.max_occurrences]
    rare.sort(key=lambda w: -w[1])  # stable
    scores = first_stage(index, rare, scoring) if rare else {}
    candidates = best_of(index, scores, scoring.full_documents)
    full = full_stage(index, candidates, kept, unigrams, scoring)
    counts = {(t,): c for t, c in unigram_counts.items()} | {w[0]: w[2] for w in kept}
    return [
        (d, full[d][0], [(tokens, counts[tokens], weight) for tokens, weight in full[d][1]])
        for d in best_of(index, {d: score for d, (score, _) in full.items()}, k)
    ]


def best_of(index, scores, most):
    """Documents by score descending, then by the hash of their ids; the best `most`."""
    documents = list(scores)
    hashes = [int(h) for h in index.order(documents)] if documents else []
    order = dict(zip(documents, hashes, strict=True))
    return sorted(documents, key=lambda d: (-scores[d], order[d]))[:most]


def first_stage(index, rare, scoring):
    """Steps 4 and 5: {document: score}."""
    border = index.vocabulary.border
    ptr, positions = index.occurrences([w[0] for w in rare], scoring.max_occurrences)
    documents = index.documents_at(positions).tolist()
    ptr, positions = ptr.tolist(), positions.tolist()
    covered, held = set(), defaultdict(list)
    for i, key in enumerate(rare):
        ngram = key[0]
        closing = len(ngram) > 1 and ngram[-1] == border  # is the next passage's first position
        length = len(ngram) - closing
        for at in range(ptr[i], ptr[i + 1]):
            keys = held[documents[at]]
            places = range(positions[at], positions[at] + length)
            if any(place in covered for place in places):
                continue
            covered.update(places)
            if not keys or keys[-1] is not key:
                keys.append(key)
    scores = {}
    for document, keys in held.items():
        seen, total = set(), 0.0
        for ngram, weight, _ in keys:
            types = set(ngram)
            total += weight * (1 - scoring.repetition_penalty * len(types & seen) / len(types))
            seen |= types
        scores[document] = total
    return scores


def full_stage(index, documents, kept, unigrams, scoring):
    """Step 6: {document: (score, [(tokens, weight added)])}."""
    trie = {}
    for key in kept:
        node = trie
        for token in key[0]:
            node = node.setdefault(token, {})
        node["key"] = key
    if not documents:
        return {}
    ptr, tokens = index.tokens_of(documents)
    tokens = tokens.tolist()
    return {
        document: read_one(tokens[start:end], trie, unigrams, scoring)
        for document, (start, end) in zip(documents, pairwise(ptr.tolist()), strict=True)
    }


def read_one(text, trie, unigrams, scoring):
    """One passage: its score and what it is the sum of."""
    found = []
    for start in range(len(text)):
        node = trie
        for token in text[start:]:
            node = node.get(token)
            if node is None:
                break
            if "key" in node:
                found.append((-node["key"][1], node["key"][0], start, node["key"]))
    found.sort(key=lambda match: match[:3])
    taken, seen, total, added, keys = set(), set(), 0.0, [], []
    for _, ngram, start, key in found:
        places = range(start, start + len(ngram))
        if any(place in taken for place in places):
            continue
        taken.update(places)
        if keys and keys[-1] is key:
            continue
        types = set(ngram)
        part = key[1] * (1 - scoring.repetition_penalty * len(types & seen) / len(types))
        seen |= types
        total += part
        keys.append(key)
        added.append((ngram, part))
    counted, by_tokens = set(), 0.0
    for place, token in enumerate(text):
        if place in taken or token in counted or token not in unigrams:
            continue
        counted.add(token)
        part = unigrams[token] * ((1 - scoring.repetition_penalty) if token in seen else 1)
        by_tokens += part
        added.append(((token,), part))
    return total + by_tokens, added
