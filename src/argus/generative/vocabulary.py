"""Map text to tokens and back with a `transformers` tokenizer, which the index and the model share.

`open_vocabulary`: a folder -> `Vocabulary`. `train_vocabulary` trains a byte-level BPE instead. A
passage is stored as `</s> title @@ text || query @@` (SEAL's and MINDER's layout, the border in
front). The border is the tokenizer's end-of-sequence token. ` @@` and ` ||` are single tokens, as
they are in BART's vocabulary. A tokenizer that lacks them is given them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.writing import writable
from argus.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.models import Model

TITLE_END, QUERY_START = " @@", " ||"
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
# Roles of the special tokens, by BART's names.
BART_NAMES: dict[str, str | None] = {
    "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>",
    "cls_token": "<s>", "sep_token": "</s>",
}  # fmt: skip
# Least size of a byte-level vocabulary: all bytes, special tokens and markers.
LEAST_SIZE = 256 + len(SPECIALS) + 2
GOLD, UNSUPERVISED = "+", "p"
"""Signs after a view's marker: one asks for a judged passage, one for any with the text."""
_PROBE = "The quick brown fox's 1,234 naïve cafés \u2014 東京 @@ || </s>"
_FILES = ("tokenizer.json", "tokenizer_config.json")


class Vocabulary:
    """A tokenizer whose ids an index and a model share.

    size: ids run from 0 to size - 1. border: begins every passage, ends the model's output. pad,
    unknown: None if the tokenizer has none. title_end, query_start: the markers ` @@` and ` ||`.
    added: how many markers the tokenizer did not have. A model made for it has no row for them.
    """

    def __init__(self, tokenizer: Tokenizer, names: dict[str, str | None]) -> None:
        from tokenizers import Tokenizer

        self._names = names
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())  # settings below are ours alone
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "</s>" in a text is text
        ids = self._tokenizer.get_vocab  # a vocabulary may have holes
        before = max(ids().values(), default=-1) + 1
        self.title_end, self.query_start = self._marker(TITLE_END), self._marker(QUERY_START)
        self.size = max(ids().values()) + 1
        self.added = self.size - before
        border = self._id("eos_token")
        if border is None:
            raise InputError(
                "the tokenizer has no eos_token",
                expected="an end-of-sequence token: it marks where passages begin",
                fix="Give the tokenizer of a seq2seq model (BART, T5), or --tokenizer bpe:SIZE.",
                where="--tokenizer",
            )
        self.border, self.pad, self.unknown = border, self._id("pad_token"), self._id("unk_token")
        self._before, self._after = self._wrapping()

    @property
    def fingerprint(self) -> str:
        """Hash of every token and its id, and of how a sample is split."""
        vocabulary = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        sample = self.encode([_PROBE])[0]
        described = json.dumps([vocabulary, sample, self.border, self.pad], ensure_ascii=False)
        return hashlib.sha256(described.encode()).hexdigest()[:32]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts as they stand in a passage: after a space, nothing added.

        Runs of white space count as one space. An empty text has no tokens.
        """
        cleaned = [" ".join(text.split()) for text in texts]
        encoded = self._tokenizer.encode_batch_fast(
            [f" {text}" for text in cleaned], add_special_tokens=False
        )
        return [e.ids if text else [] for e, text in zip(encoded, cleaned, strict=True)]

    def encode_as_is(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts as they stand: no space in front, white space as it is."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [e.ids for e in encoded]

    def sources(
        self,
        questions: Sequence[str],
        view: str | None = None,
        *,
        limit: int | None = None,
        kind: str = GOLD,
    ) -> list[list[int]]:
        """Return encoder inputs: the question, ` || VIEW || +`, and the tokenizer's own specials.

        view: None adds no marker. limit: tokens at most. It is the question that is cut, at its
        end. kind: GOLD or UNSUPERVISED.
        """
        after = self._after
        if view is not None:
            words, sign = self.encode([view, kind])
            after = [self.query_start, *words, self.query_start, *sign, *after]
        room = None if limit is None else max(0, limit - len(self._before) - len(after))
        return [[*self._before, *ids[:room], *after] for ids in self.encode(questions)]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens as they stand, markers and border shown."""
        return str(self._tokenizer.decode([int(t) for t in tokens], skip_special_tokens=False))

    def decode_all(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of several sequences."""
        return list(self._tokenizer.decode_batch([*sequences], skip_special_tokens=False))

    def save(self, folder: Path) -> None:
        """Write the tokenizer into a folder, as `transformers` reads it."""
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast

        specials = {name: value for name, value in self._names.items() if value is not None}
        copied = Tokenizer.from_str(self._tokenizer.to_str())
        copied.encode_special_tokens = False  # to others, it is an ordinary tokenizer
        tokenizer: Any = PreTrainedTokenizerFast
        with writable(folder):
            tokenizer(tokenizer_object=copied, **specials).save_pretrained(folder)

    def _marker(self, text: str) -> int:
        """Return the id of a marker: the token that its text is, else one added under its name."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        if len(ids) == 1 and ids[0] != self._id("unk_token"):
            return int(ids[0])
        space = self._tokenizer.encode(" a", add_special_tokens=False).tokens[0][:1]
        name = text.replace(" ", space if space in "Ġ▁" else "")
        if self._tokenizer.token_to_id(name) is None:
            self._tokenizer.add_special_tokens([name])
        marker = self._tokenizer.token_to_id(name)
        assert marker is not None
        return int(marker)

    def _id(self, name: str) -> int | None:
        token = self._names.get(name)
        id_ = None if token is None else self._tokenizer.token_to_id(token)
        return None if id_ is None else int(id_)

    def _wrapping(self) -> tuple[list[int], list[int]]:
        """Return the tokens around an encoder input. By default, a border follows it."""
        plain = self._tokenizer.encode(" a", add_special_tokens=False).ids
        whole = self._tokenizer.encode(" a").ids
        for start in range(len(whole) - len(plain) + 1):
            if len(whole) > len(plain) and whole[start : start + len(plain)] == plain:
                return whole[:start], whole[start + len(plain) :]
        return [], [self.border]


def open_vocabulary(path: Path | str) -> Vocabulary:
    """Open the tokenizer in a folder: of a model, of an index, or by itself.

    Raises InputError if there is none, or one that has no fast form.
    """
    from transformers import AutoTokenizer

    folder = Path(path)
    if not any((folder / name).is_file() for name in (*_FILES, "vocab.json", "spiece.model")):
        raise InputError(
            "no such folder" if not folder.is_dir() else "no tokenizer in it",
            expected="a folder with tokenizer.json, as transformers saves it",
            fix="Give the folder of a seq2seq model or of its tokenizer, or bpe:SIZE to train one "
            "on the corpus.",
            where=folder,
        )
    try:
        loaded: Any = AutoTokenizer.from_pretrained(folder)
        backend = loaded.backend_tokenizer
    except Exception as error:  # whatever the library makes of a damaged file
        raise InputError(
            f"the tokenizer cannot be read ({str(error).splitlines()[0][:160]})",
            expected="a tokenizer of transformers with a fast form (tokenizer.json)",
            fix="Save it again with tokenizer.save_pretrained(FOLDER).",
            where=folder,
        ) from error
    names = ("bos_token", "eos_token", "pad_token", "unk_token", "cls_token", "sep_token")
    return Vocabulary(backend, {name: getattr(loaded, name, None) for name in names})


def train_vocabulary(texts: Iterable[str], size: int) -> Vocabulary:
    """Train a byte-level BPE vocabulary of `size` tokens: no text is unknown to it.

    Ids 0 to 3 are `<s> <pad> </s> <unk>` as in BART. A corpus too small for `size` gives fewer.
    """
    from tokenizers import models, pre_tokenizers, trainers

    if not LEAST_SIZE <= size <= 2**31 - 1:
        raise InputError(
            f"a vocabulary of {size:,} tokens",
            expected=f"at least {LEAST_SIZE}: all bytes, special tokens and markers",
            fix="Take some thousands for a small corpus, 50,000 for a large one.",
            where="--tokenizer",
        )
    tokenizer = byte_level(models.BPE())
    markers = [marker.replace(" ", "Ġ") for marker in (TITLE_END, QUERY_START)]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[*SPECIALS, *markers],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((f" {' '.join(text.split())}" for text in texts), trainer)
    return Vocabulary(tokenizer, BART_NAMES)


def byte_level(model: Model) -> Tokenizer:
    """Return BART's tokenizer over a BPE: bytes, `<s>` before an encoder input, `</s>` after."""
    from tokenizers import Tokenizer, decoders, pre_tokenizers, processors

    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer
