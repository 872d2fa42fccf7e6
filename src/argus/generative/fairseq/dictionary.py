"""Fairseq's dictionary over GPT-2's byte-pair encoding, as one tokenizer.

BART reads a text in two steps. GPT-2's BPE turns it into numbers: 256 bytes first, in the order of
GPT-2's alphabet, then one number per merge, in the order of the merges (or as encoder.json says).
The dictionary turns the numbers into rows of the embedding: `<s> <pad> </s> <unk>` are rows 0 to
3, and the n-th line of dict.txt, `NUMBER COUNT`, is row 3 + n. `<mask>` is the last, where the
model has a row more than that. Here the two steps are one: a token of the BPE has its row as id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.records import parse_json
from argus.errors import InputError
from argus.generative.vocabulary import BART_NAMES, SPECIALS, Vocabulary, byte_level

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MASK = "<mask>"
_END_OF_TEXT = "<|endoftext|>"
_FILLER = "madeupword"
"""What fairseq fills a dictionary up with, so that its size is a multiple of eight."""
_MERGES = ("vocab.bpe", "merges.txt", "tokenizer.json")
_NUMBERS = "encoder.json"


@dataclass(frozen=True)
class Bpe:
    """GPT-2's byte-pair encoding. tokens: by number, those that no text needs included.

    file: that the merges were read from. merges: pairs of tokens, the first merged first.
    """

    file: Path
    tokens: dict[int, str]
    merges: list[tuple[str, str]]


def read_bpe(path: Path) -> Bpe:
    """Read the merges of a byte-level BPE, and its numbers where encoder.json is beside them.

    path: a folder with vocab.bpe, merges.txt or tokenizer.json, or one of these files. Raises
    InputError for what is none, and where the numbers do not follow from the merges.
    """
    files = [path] if path.is_file() else [path / n for n in _MERGES if (path / n).is_file()]
    if not files:
        raise InputError(
            f"none of {', '.join(_MERGES)} in it" if path.is_dir() else "no such folder",
            expected="GPT-2's byte-pair encoding, which BART uses",
            fix="Give the folder with vocab.bpe and encoder.json of fairseq, or that of a BART or "
            "GPT-2 tokenizer of transformers.",
            where=path,
        )
    file = files[0]
    merges = _merges(file)
    numbers = file.parent / _NUMBERS
    tokens = _numbers(numbers) if numbers.is_file() else _counted(file, merges)
    return Bpe(file, tokens, merges)


def read_dictionary(path: Path) -> list[str]:
    """Return the symbols of a dictionary by row: the four specials, then those of dict.txt.

    Raises InputError, with the line, for one that is no `SYMBOL COUNT`, and for a symbol that comes
    twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read ({error})",
            expected="fairseq's dict.txt, a line `NUMBER COUNT` for each row of the embedding",
            fix="Give the dict.txt that lies beside the checkpoint.",
            where=path,
        ) from error
    symbols = list(SPECIALS)
    rows = dict.fromkeys(symbols)
    for number, line in enumerate(lines, 1):
        symbol, _, count = line.rpartition(" ")
        if not symbol or not count.isdecimal() or symbol in rows:
            raise InputError(
                f"line {number}: {line!r:.60}"
                + (", a symbol that has a row already" if symbol in rows else ""),
                expected="a symbol, a space and how often it came; each symbol once",
                fix="Give the dict.txt that lies beside the checkpoint.",
                where=path,
            )
        rows[symbol] = None
        symbols.append(symbol)
    return symbols


def join(symbols: Sequence[str], bpe: Bpe, rows: int, where: Path) -> Vocabulary:
    """Return the tokenizer of a model of so many rows: text to rows, in one step.

    symbols: of the dictionary, by row. where: the dictionary's file, for errors. Raises InputError
    where rows and dictionary do not fit, where the dictionary is not one of the BPE, and where it
    has no row for a token that a text may need, or for SEAL's markers.
    """
    _require_rows(symbols, rows, where)
    tokens = {token: row for row, token in enumerate(_tokens(symbols, bpe, where))}
    if rows > len(symbols):
        tokens[MASK] = len(symbols)
    missing = [t for t in _needed(bpe) if t not in tokens]
    if missing:
        raise InputError(
            f"no row for {len(missing):,} tokens of the BPE ({', '.join(map(repr, missing[:3]))})",
            expected="a dictionary of all of GPT-2's tokens, as BART has it",
            fix="Give the dict.txt that lies beside the checkpoint.",
            where=where,
        )
    names = BART_NAMES | {"mask_token": MASK if MASK in tokens else None}
    vocabulary = Vocabulary(_tokenizer(tokens, bpe), names)
    if vocabulary.added:
        raise InputError(
            "the BPE has no single token for ` @@` or for ` ||`",
            expected="both, as in BART's: SEAL and MINDER end titles and begin queries with them",
            fix="Give --bpe the encoding that the model was trained with.",
            where=where,
        )
    return vocabulary


def alphabet() -> list[str]:
    """Return the characters that stand for the 256 bytes, in the order of GPT-2's numbers.

    Bytes that are visible in Latin-1 stand for themselves and come first; the others, in their
    order, are the characters from 256 on.
    """
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = sorted(set(range(256)).difference(visible))
    return [*map(chr, visible), *(chr(256 + n) for n in range(len(hidden)))]


def _merges(file: Path) -> list[tuple[str, str]]:
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".json":
            model = parse_json(text)["model"]
            pairs = [m.split(" ") if isinstance(m, str) else list(m) for m in model["merges"]]
        else:
            lines = text.split("\n")
            pairs = [line.split(" ") for line in lines[lines[0].startswith("#version") :] if line]
        merges = [(first, second) for first, second in pairs]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"no merges can be read from it ({str(error)[:120]})",
            expected="two tokens a line (vocab.bpe, merges.txt), or a BPE's tokenizer.json",
            fix="Give GPT-2's, as fairseq or transformers ship it.",
            where=file,
        ) from error
    return merges


def _numbers(file: Path) -> dict[int, str]:
    try:
        numbers = {int(n): str(token) for token, n in parse_json(file.read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"cannot be read ({str(error)[:120]})",
            expected="GPT-2's encoder.json: numbers by token",
            fix="Copy it again, or remove it: the numbers follow from the merges.",
            where=file,
        ) from error
    return numbers


def _counted(file: Path, merges: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Return the numbers that follow from the merges: bytes, merged tokens, the end of a text."""
    tokens = [*alphabet(), *(a + b for a, b in merges), _END_OF_TEXT]
    twice = next((token for token, n in Counter(tokens).items() if n > 1), None)
    if twice is not None:
        raise InputError(
            f"two merges make {twice!r}, so the tokens' numbers do not follow from the merges",
            expected="merges that make a token each, as GPT-2's do, or encoder.json beside them",
            fix="Put the encoder.json that the model was trained with into the same folder.",
            where=file,
        )
    return dict(enumerate(tokens))


def _require_rows(symbols: Sequence[str], rows: int, where: Path) -> None:
    if rows not in (len(symbols), len(symbols) + 1):
        raise InputError(
            f"{len(symbols):,} symbols with the four specials, of a model with {rows:,} rows",
            expected="as many, or one less: <mask> has the last row",
            fix="Give the dict.txt that lies beside the checkpoint.",
            where=where,
        )


def _tokens(symbols: Sequence[str], bpe: Bpe, where: Path) -> list[str]:
    """Return the token of each row."""
    tokens = list(symbols[: len(SPECIALS)])
    for line, symbol in enumerate(symbols[len(SPECIALS) :], 1):
        token = bpe.tokens.get(int(symbol)) if symbol.isdecimal() else None
        if token is None and not symbol.startswith(_FILLER) and symbol != MASK:
            raise InputError(
                f"line {line}: {symbol!r:.40} is no number of a token of the BPE",
                expected=f"numbers from 0 to {max(bpe.tokens):,}, as GPT-2's BPE gives them",
                fix="Give a dictionary of BART's kind, and with --bpe the encoding that goes with "
                "it.",
                where=where,
            )
        tokens.append(symbol if token is None else token)
    return tokens


def _needed(bpe: Bpe) -> list[str]:
    """Return every token that a text may become, or that a merge passes through."""
    return list(dict.fromkeys([*alphabet(), *(a + b for a, b in bpe.merges)]))


def _tokenizer(tokens: dict[str, int], bpe: Bpe) -> Tokenizer:
    """Return BART's tokenizer with these rows as ids."""
    from tokenizers import models

    tokenizer = byte_level(models.BPE(vocab=tokens, merges=bpe.merges))
    tokenizer.add_special_tokens([t for t in (*SPECIALS, MASK) if t in tokens])
    return tokenizer
