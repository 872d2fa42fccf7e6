"""The constraint as a logits processor of `generate()`."""

import numpy as np
import torch

from argus.generative.decode import CorpusConstraint


def test_every_token_that_exists_keeps_its_score_and_no_other(parts):
    vocabulary, index, passages, model = parts
    rng = np.random.default_rng(0)
    for depth in range(5):
        written = []
        for _ in range(40):
            passage = passages.passages[rng.integers(len(passages.passages))]
            start = rng.integers(1, max(2, len(passage) - depth))
            written.append((passage[start : start + depth] + [9] * depth)[:depth])
        ids = torch.tensor([[model.start, *w] for w in written])
        scores = torch.from_numpy(rng.normal(size=(40, vocabulary.size)).astype(np.float32))
        before = scores.clone()
        masked = CorpusConstraint(index, vocabulary.pad)(ids, scores)
        for row, w in enumerate(written):
            closed = bool(w) and w[-1] in {index.border, vocabulary.pad}
            allowed = [] if closed else passages.continuations(w)[0].tolist()
            allowed = allowed or [vocabulary.pad]
            assert torch.isfinite(masked[row]).nonzero()[:, 0].tolist() == sorted(allowed)
            assert torch.equal(masked[row, allowed], before[row, allowed])


def test_generate_writes_only_what_the_corpus_has(parts):
    vocabulary, index, passages, model = parts
    source = torch.tensor(vocabulary.sources(["where is the tower"], "title"))
    outputs = model.network.generate(
        source, num_beams=6, num_return_sequences=6, max_new_tokens=12, do_sample=False,
        logits_processor=[
            CorpusConstraint(
                index, vocabulary.pad, prefix=[index.border], last=vocabulary.title_end
            )
        ],
    )  # fmt: skip
    texts = set()
    for output in outputs.tolist():
        written = [t for t in output[1:] if t not in {vocabulary.pad, index.border}]
        assert passages.count([index.border, *written]) > 0
        texts.add(vocabulary.decode(written))
    assert any(text.endswith(" @@") for text in texts)
