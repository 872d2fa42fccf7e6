"""A small corpus of generative retrieval with its index and a tiny model, and plain readings."""

from copy import copy
from itertools import pairwise

from argus.data.types import Document
from argus.generative.decode import Seq2Seq
from argus.generative.decode.beams import beam_search
from argus.generative.vocabulary import train_vocabulary
from tests.support.plain_index import PlainIndex
from tests.support.tiny_seq2seq import network

DOCUMENTS = [
    Document("eiffel", "The tower stands in Paris.", "Eiffel Tower"),
    Document("tower", "A tower is tall.", "Tower"),
    Document("paris", "Paris is a city in France.", "Paris"),
    Document("bare", "Towers of Paris."),
    Document("only", "", "City of Towers"),
    Document("again", "A tower is tall.", "Tower"),
]
PSEUDO_QUERIES = {
    "eiffel": ["where does the tower stand", "what is tall"],
    "tower": ["what is tall"],
}
QUESTIONS = ["where is the tower", "Paris?", "which city in France is known for its tall towers"]


def small_vocabulary():
    """Bytes, and merges until most words are one or two tokens."""
    texts = [f"{d.title} {d.text}" for d in DOCUMENTS]
    return train_vocabulary([*texts, "what is tall where does"], 400)


def tiny_model(vocabulary, seed=0):
    return Seq2Seq(network(vocabulary, seed), vocabulary, "cpu", "tiny")


def decoded(vocabulary, index, model, search, questions):
    """Return what `beam_search` finds for questions that ask for n-grams of texts."""
    import torch

    with torch.inference_mode():
        sources = model.encode(vocabulary.sources(questions, "body"))
        return beam_search(model, sources, index, search)


def plain(index):
    """The same passages as lists of tokens."""
    pointers, tokens = index.tokens_of(range(index.n_documents))
    passages = [tokens[a + 1 : b].tolist() for a, b in pairwise(pointers)]
    return PlainIndex(passages, index.border, index.ids(), index.vocabulary_size)


def ngrams_of(passages, longest, border):
    """Every n-gram of every passage, borders left out."""
    return {
        tuple(p[a : a + n])
        for passage in passages
        for p in [[t for t in passage if t != border]]
        for n in range(1, longest + 1)
        for a in range(len(p) - n + 1)
    }


def next_log_probabilities(model, source, written):
    """Log P of every next token, by a plain forward pass: no batch, no padding, no cache."""
    import torch

    with torch.inference_mode():
        logits = model.network(
            input_ids=torch.tensor([source]),
            decoder_input_ids=torch.tensor([[model.start, *written]]),
        ).logits
    return torch.log_softmax(logits[0].double(), dim=-1)


def log_probability(model, source, ngram):
    """The sum over an n-gram's tokens, in one pass."""
    logs = next_log_probabilities(model, source, ngram[:-1])
    return float(sum(logs[i, token] for i, token in enumerate(ngram)))


def plain_beam_search(
    model, source, index, *, beams, longest, prefix=(), given=(), last=None, barred=()
):
    """Beam search as its definition says, over a PlainIndex: {n-gram: log-probability}."""
    live, kept = [((), 0.0)], {}
    for _ in range(longest):
        candidates = []
        for ngram, total in live:
            logs = next_log_probabilities(model, source, (*given, *ngram))[-1]
            candidates += [
                ((*ngram, int(token)), total + float(logs[token]))
                for token in index.continuations([*prefix, *ngram])[0]
                if token not in barred
            ]
        candidates.sort(key=lambda c: -c[1])
        best = candidates[: 2 * beams]
        kept.update(best)
        live = [c for c in best if c[0][-1] != last][:beams]
    return kept


def vast(index):
    """The same index as if its corpus were endless: whatever is written is above chance there."""
    index = copy(index)
    index.n_tokens = 10**40
    return index


def output_records():
    """Return 24 questions of a system's output, with one, two or three n-grams by turns."""
    keys = [["</s> Tower @@", 2, 4.0], [" tall", 3, 2.0], ["|| what is tall @@", 1, 1.0]]
    return [_output_record(n, keys[: 1 + n % 3]) for n in range(24)]


def _output_record(number, keys):
    passage = {"passage_id": "p", "title": "Tower", "text": "A tower is tall.", "score": 1.0}
    return {
        "id": f"q{number}", "question": "what is tall", "answers": ["tower"],
        "positive_ctxs": [{"passage_id": "p" if number % 2 else "x", "title": "", "text": ""}],
        "ctxs": [{**passage, "keys": keys}],
    }  # fmt: skip
