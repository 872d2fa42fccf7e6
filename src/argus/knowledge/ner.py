"""Find mentions of entities in texts with a named-entity model of `transformers` (ARGUS §5.1).

From texts to `Mention`s with exact spans but no entity ids. This is the paper's way, the option
`--mentions ner` of `research diagnose` and `tune apply expand`. `argus.knowledge.gazetteer` finds
mentions by a list of names instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.provenance import file_hash
from argus.data.types import Span
from argus.devices import check_device
from argus.errors import InputError
from argus.extras import naming_extras
from argus.knowledge.names import Mention, is_inside_word, leftmost_longest, without_surrogates

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, TokenClassificationPipeline

DEFAULT_MODEL = "dslim/bert-base-NER"
OUTSIDE = "O"
NO_LIMIT_WINDOW = 512  # for a model that names no longest input
BLOCK_BATCHES = 16  # texts are sorted by length within this many batches


class TokenClassifier:
    """Finds mentions with a named-entity model. It names no entity ids.

    A word takes the tag of its first token (aggregation "first"): such models are trained on first
    tokens only, so their tags for the rest of a word are undefined, and a name would break where
    it is cut into pieces. Words are split from the text, the same for every tokenizer.
    Texts longer than the window are read in windows that overlap by a quarter, to the end.
    """

    def __init__(
        self,
        model: str | Path = DEFAULT_MODEL,
        device: str | None = None,
        batch_size: int = 16,
    ) -> None:
        """Load a model.

        model: a name on the hub, or a folder. device: "cpu", "cuda", .... None takes a GPU when
        there is one. batch_size: windows per forward pass. Raises InputError for a model that
        cannot be loaded or does not tag tokens, and a device that is not there.
        """
        name = str(model)
        network, tokenizer = _load(name)
        tags = (network.config.id2label or {}).values()
        if OUTSIDE not in tags:
            raise _not_a_tagger(name, f"its tags are {', '.join(sorted(tags)[:5])}")
        kinds = {tag.removeprefix("B-").removeprefix("I-") for tag in tags} - {OUTSIDE}
        # Models of RoBERTa's kind number positions from behind the padding index.
        limit = int(getattr(network.config, "max_position_embeddings", 0) or NO_LIMIT_WINDOW)
        for module_name, module in network.named_modules():
            if module_name.endswith("position_embeddings"):
                padding = getattr(module, "padding_idx", None)
                limit -= 0 if padding is None else padding + 1
        self.batch_size = batch_size
        self.labels = tuple(sorted(kinds))
        self.window = tokenizer.model_max_length = min(int(tokenizer.model_max_length), limit)
        self._pipeline = _pipeline(network, tokenizer, device)
        self._model = name

    @property
    def name(self) -> str:
        """Model, revision (of the hub, or a digest of weights), kinds of entity, window."""
        folder = Path(self._model)
        weights = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
        commit = getattr(self._pipeline.model.config, "_commit_hash", None) or "unknown"
        revision = "+".join(file_hash(file)[:12] for file in weights) or commit[:12]
        return (
            f"ner:{folder.resolve().name if folder.is_dir() else self._model}@{revision} "
            f"labels={','.join(self.labels)} aggregation=first window={self.window}"
        )

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text. Exact spans, no white space at their ends."""
        block = self.batch_size * BLOCK_BATCHES
        for start in range(0, len(texts), block):
            here = texts[start : start + block]
            order = [i for i, text in enumerate(here) if text.strip()]
            order.sort(key=lambda i: -len(here[i]))
            readable = [without_surrogates(here[i]) for i in order]
            mentions: list[list[Mention]] = [[] for _ in here]
            tagged: Any = self._pipeline(readable, batch_size=self.batch_size) if readable else ()
            for i, groups in zip(order, tagged, strict=True):
                mentions[i] = _mentions(here[i], [(one["start"], one["end"]) for one in groups])
            yield from mentions


def _mentions(text: str, places: Sequence[tuple[int, int]]) -> list[Mention]:
    """Return mentions of whole words, without white space at their ends.

    A window may begin or end inside a word, some tokenizers count white space in.
    """
    whole = []
    for start, end in places:
        surface = text[start:end]
        start, end = end - len(surface.lstrip()), start + len(surface.rstrip())
        while start < end and is_inside_word(text, start):
            start -= 1
        while start < end and is_inside_word(text, end):
            end += 1
        if start < end:
            whole.append((None, start, end))
    return [Mention(text[start:end], Span(start, end)) for _, start, end in leftmost_longest(whole)]


@naming_extras()
def _load(model: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    from safetensors import SafetensorError
    from transformers import AutoModelForTokenClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    for local_only in (True, False):
        try:
            network, report = AutoModelForTokenClassification.from_pretrained(
                model, local_files_only=local_only, output_loading_info=True
            )
            tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local_only)
            break
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            if local_only and not Path(model).exists():
                continue
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
            raise InputError(
                f"the named-entity model {model!r} could not be loaded ({reason})",
                expected="a folder that save_pretrained wrote, or a model that is cached or on a "
                "reachable hub",
                fix=f"Fetch it where there is network with `hf download {model}` and give the "
                "folder, or use the gazetteer, which needs a knowledge base with titles.",
            ) from error
    if report["missing_keys"]:
        raise _not_a_tagger(model, f"weights {sorted(report['missing_keys'])[0]!r} are missing")
    return network, tokenizer


def _pipeline(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, device: str | None
) -> TokenClassificationPipeline:
    """Return transformers' pipeline with words split from the text.

    Its own rule trusts "##" of WordPiece, and elsewhere takes everything between two spaces as one
    word: with byte-level or SentencePiece tokenizers "(Paris" would take the tag of "(".
    """
    import torch
    from transformers import TokenClassificationPipeline
    from transformers.pipelines.token_classification import AggregationStrategy

    class WordPipeline(TokenClassificationPipeline):
        def gather_pre_entities(  # type: ignore[no-untyped-def]
            self, sentence, input_ids, scores, offset_mapping, special_tokens_mask,
            aggregation_strategy, word_ids=None, word_to_chars_map=None,
        ):  # fmt: skip
            tokens = super().gather_pre_entities(
                sentence, input_ids, scores, offset_mapping, special_tokens_mask,
                AggregationStrategy.NONE, word_ids, word_to_chars_map,
            )  # fmt: skip
            words, space, end = [], None, 0
            for token in tokens:
                surface = sentence[token["start"] : token["end"]]
                if not surface.strip():  # a space of its own is the first token of the next word
                    space = token if surface in ("", " ") else None
                    continue
                overlaps = token["start"] < end  # several tokens of one character
                token["is_subword"] = overlaps or is_inside_word(sentence, token["start"])
                words.append(token if space is None else {**token, "scores": space["scores"]})
                space, end = None, max(end, token["end"])
            return words

    if tokenizer.pad_token is None:  # batches are padded; padding is masked, so any token does
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    device = check_device(device)
    network.to(device)
    return WordPipeline(
        model=network,
        tokenizer=tokenizer,
        device=torch.device(device),
        aggregation_strategy="first",
        stride=tokenizer.model_max_length // 4,
    )


def _not_a_tagger(model: str, reason: str) -> InputError:
    return InputError(
        f"{model!r} is not a trained token classifier: {reason}",
        expected=f"a model that tags tokens as B-..., I-... and {OUTSIDE}",
        fix=f"Take one that was trained for named entities, such as {DEFAULT_MODEL}.",
    )
