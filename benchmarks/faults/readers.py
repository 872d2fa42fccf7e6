"""Every reader and every file of Argus's own that is fuzzed: whole files, and what reads them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import tempfile
from pathlib import Path

from argus.errors import ArgusError
from benchmarks.faults import kept_readers, log_readers
from benchmarks.faults.fuzz import Reader
from benchmarks.faults.reading import call, in_folder, lines

TRICKY = "Ünï – “quotes” 𝔘 line\u2028sep, 100 %"


def _corpus() -> list[bytes]:
    rows = [{"_id": f"d{i}", "title": f"T{i}", "text": f"text {i} {TRICKY}"} for i in range(4)]
    rows.append({"_id": "d9", "title": None, "text": "x", "metadata": {"a": [1, {"b": None}]}})
    return [lines(*rows)]


def _table(ending: str) -> list[bytes]:
    mark = "," if ending == "csv" else "\t"
    rows = [["_id", "text"], ["d1", "one"], ["d2", TRICKY]]
    quoted = [b'_id,text\n"d1","a ""b"", c\nd"\n'] if ending == "csv" else []
    return ["\n".join(mark.join(row) for row in rows).replace(", ", " ").encode(), *quoted]


def _parquet() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [json.loads(line) for line in _corpus()[0].splitlines()]
    files = []
    for options in ({}, {"row_group_size": 2, "compression": "zstd"}, {"compression": "none"}):
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink, **options)
        files.append(sink.getvalue())
    return files


def _arrow() -> list[bytes]:
    import pyarrow as pa

    table = pa.Table.from_pylist([json.loads(line) for line in _corpus()[0].splitlines()])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return [sink.getvalue()]


def _rows(path: Path) -> object:
    from argus.data.rows import read_rows

    return read_rows(path)


def _documents(path: Path) -> object:
    from argus.data.corpus import documents_in
    from argus.data.fields import FieldNames

    return documents_in(path, FieldNames())


RULES = b"""\
name: laws
rules:
  - name: amended
    superseding: amendment
    superseded: law
    scope: [bill]
    order: effective
dates: ["%d.%m.%Y"]
"""
ENDPOINT = b"""\
url: http://127.0.0.1:9/search?q={query}
method: GET
headers: {X-Of: argus}
answer:
  results: hits.hits
  id: _id
  score: _score
at_once: 4
"""
TRIPLE = (
    b'<http://w/Q1> <http://w/P1> <http://w/Q2> .\n<http://w/Q1> <http://l> "a\\u00e9\\n"@en .\n'
)
PAGE = b"""<page><title>Bern</title><ns>0</ns><id>7</id><revision><id>1</id><text bytes="9">\
{{Infobox|a=b|c={{d}}}}'''Bern''' is the [[capital|seat]] of [[Switzerland]].<ref name="x">y</ref>
<!-- c --> {| class=x\n| y\n|}\n* [[File:A.jpg|thumb|of [[B]]]]\n== More ==\n&lt;b&gt; text \
</text></revision></page>"""
HTML = b"""<!doctype html><html><head><title>A &amp; B</title><link rel=canonical href="/a"></head>
<body><nav>menu</nav><main><h1>A</h1><p>Text with <a href="b.html#c">B</a> &#233; <b>c</b></p>
<script>var a = "</p>"</script><table><tr><td>1</table></main></body></html>"""
MARKDOWN = b"""---
title: A page
tags: [a, b]
---
# A page

Text with [a link](b.md) and ![a picture](c.png "t"), `code`, [ref][1].

[1]: http://x
"""
TOML_PAGE = b"+++\ntitle = 'A'\ndate = 2020-01-02\n[a]\nb = [1]\n+++\n# A\n\nText.\n"


def _item() -> bytes:
    value = {"entity-type": "item", "numeric-id": 2, "id": "Q2"}
    snak = {"datavalue": {"type": "wikibase-entityid", "value": value}}
    item = {
        "type": "item", "id": "Q1", "labels": {"en": {"language": "en", "value": "one"}},
        "descriptions": {"en": {"value": "d"}}, "aliases": {"en": [{"value": "uno"}]},
        "claims": {"P31": [{"mainsnak": snak, "rank": "normal"}]},
        "sitelinks": {"enwiki": {"title": "One"}},
    }  # fmt: skip
    return b"[\n" + json.dumps(item).encode() + b",\n]\n"


def _items(path: Path) -> object:
    from argus.knowledge.dumps.item_rows import ItemSetup, read_items

    return read_items(path.read_bytes().splitlines(), ItemSetup(articles_only=False))


def _pages(path: Path) -> object:
    from argus.knowledge.dumps.page_rows import PageSetup, read_pages
    from argus.knowledge.dumps.site import any_site

    return read_pages([path.read_bytes()], PageSetup(site=any_site()))


def _wikitext(path: Path) -> object:
    from argus.knowledge.dumps.wikitext import first_paragraph

    return first_paragraph(path.read_bytes().decode("utf-8", "replace"))


def _dump(path: Path) -> object:
    from argus.knowledge.dumps.splits import RecordKind, blocks_of, records_of

    return [
        record
        for block in blocks_of(path, RecordKind.PAGE, size=1 << 12)
        for record in records_of(block, RecordKind.PAGE)
    ]


def _ntriples(path: Path) -> object:
    from argus.knowledge.sources.ntriples import read_ntriples

    return read_ntriples(path)


def _relations(path: Path) -> object:
    from argus.knowledge.relations import read_relations

    return read_relations(path, {f"Q{i}": i for i in range(9)}, skip_unknown=True)


def _html(path: Path) -> object:
    from argus.knowledge.sources.pages.html import parse_html
    from argus.knowledge.sources.pages.text import decode_html

    return parse_html(decode_html(path.read_bytes())[0])


def _markdown(path: Path) -> object:
    from argus.knowledge.sources.pages.front_matter import split_front_matter
    from argus.knowledge.sources.pages.markdown import parse_markdown
    from argus.knowledge.sources.pages.page import with_front_matter
    from argus.knowledge.sources.pages.text import decode_text

    text = decode_text(path.read_bytes())
    if text is None:
        return None
    values, body, _ = split_front_matter(text)
    return with_front_matter(parse_markdown(body), values)


def _json_list(path: Path) -> object:
    from argus.data.json_list import JsonList

    return iter(JsonList(path))


def _failures(path: Path) -> object:
    from argus.data.json_list import JsonList
    from argus.generative.failures.reading.problems import Problems
    from argus.generative.failures.reading.record import read_case
    from argus.generative.failures.reading.settings import Reading
    from argus.generative.failures.tokens import WordTokens

    reading, problems = Reading(WordTokens()), Problems()
    return [read_case(item.content, item.number, reading, problems) for item in JsonList(path)]


def _traffic(path: Path) -> object:
    from argus.traffic.reading import read_traffic

    return list(read_traffic(path))


def _answer(path: Path) -> object:
    from argus.llm.structured import UnusableAnswer, read_object
    from argus.scenarios.schema import ProfileAnswer

    text = path.read_bytes().decode("utf-8", "replace")
    try:
        return read_object(text, ProfileAnswer)
    except UnusableAnswer as error:
        raise ArgusError(str(error)) from error


def _reply(path: Path) -> object:
    from argus.llm.reply import read_reply

    return read_reply(path.read_bytes().decode("utf-8", "replace"), max_tokens=100)


def _embeddings(path: Path) -> object:
    from argus.encoders.openai import _parse

    return _parse(path.read_bytes().decode("utf-8", "replace"), 2, "http://h")


def _header() -> list[bytes]:
    from argus.indexes.header import IndexHeader, write_header

    with tempfile.TemporaryDirectory() as folder:
        write_header(Path(folder), IndexHeader(fingerprint="m@1", dim=3))
        return [(Path(folder) / "index.json").read_bytes()]


def _ngram_manifest() -> list[bytes]:
    from argus.generative.index.manifest import Manifest
    from argus.generative.passages import PassageCounts

    manifest = Manifest(vocabulary="v", size=9, border=1, titles=True, counts=PassageCounts())
    with tempfile.TemporaryDirectory() as folder:
        manifest.with_segment("0001", "", PassageCounts()).write(Path(folder))
        return [(Path(folder) / "ngram.json").read_bytes()]


def _kb_header() -> list[bytes]:
    tables: dict[str, list[object]] = {
        name: [] for name in ("entities", "relations", "aliases", "redirects")
    }
    header = {"format": 1, "graph": "wikidata", "sources": {}, "facts": {}, "tables": tables}
    return [json.dumps(header).encode()]


def open_kb(folder: Path) -> object:
    """Open a knowledge base without shards."""
    from argus.data.kb_folder import KnowledgeFolder

    return KnowledgeFolder.open(folder)


def _correction() -> list[bytes]:
    import numpy as np

    from argus.indexes.correction import QueryCorrection

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "c.npz"
        one = np.eye(3, 2, dtype=np.float32)
        QueryCorrection(one, one, 0.5, "m@1").save(file)
        return [file.read_bytes()]


def _results() -> list[bytes]:
    return [json.dumps({"gate": {"passed": True}, "audit": {"k": 5, "n": [1, 2.5, None]}}).encode()]


def _read_results(path: Path) -> object:
    from argus.data.artifacts import ArtifactFolder

    return ArtifactFolder(path.parent).read_json(path.name)


QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n"
LOG = lines(
    {"query": "who?", "timestamp": "2026-03-01T12:00:00Z", "results": ["d1", "d2"],
     "feedback": "up"},
    {"query": TRICKY, "timestamp": 1740000000, "results": [{"id": "d1", "score": 0.5}]},
)  # fmt: skip
DPR = json.dumps(
    [
        {
            "question": "who?", "answers": ["a"], "positive_ctxs": [{"title": "t", "text": "x"}],
            "ctxs": [{"passage_id": "d1", "title": "t", "text": "x", "score": 1.5,
                      "keys": [["n gram", 3, 1.5]]}],
        }
    ]
).encode()  # fmt: skip
PROFILE = lines(
    {"_id": "d1", "main_topic": "t", "key_aspects": ["a"], "state": "ok",
     "scenarios": [{"information_need": "A user wants to know x", "explanation": "y"}]},
)  # fmt: skip
ANSWER = json.dumps(
    {"noise": False, "main_topic": "t", "key_aspects": ["a"],
     "scenarios": [{"information_need": "A user wants to know x", "explanation": "y \\alpha"}]}
).encode()  # fmt: skip
REPLY = json.dumps(
    {"choices": [{"message": {"content": "<think>a</think>b"}, "finish_reason": "stop"}],
     "usage": {"prompt_tokens": 3}}
).encode()  # fmt: skip
EMBEDDINGS = json.dumps(
    {"data": [{"index": i, "embedding": [0.1, 0.2, 0.3]} for i in range(2)]}
).encode()
SUITE = b"""\
[[retrievers]]
name = "BM25"
bm25 = true
remedies = ["none"]
[[tasks]]
task = "task"
"""
READERS: tuple[Reader, ...] = (
    Reader("rows jsonl", ".jsonl", _corpus, _documents),
    Reader("rows csv", ".csv", lambda: _table("csv"), _rows),
    Reader("rows tsv", ".tsv", lambda: _table("tsv"), _rows),
    Reader("rows parquet", ".parquet", _parquet, _documents),
    Reader("rows arrow", ".arrow", _arrow, _rows),
    Reader("rows gz", ".jsonl.gz", lambda: [gzip.compress(_corpus()[0])], _rows),
    Reader("qrels", ".tsv", lambda: [QRELS], call("argus.data.qrels", "read_qrels")),
    Reader("qrels trec", ".qrels", lambda: [b"q1 0 d1 1\nq2 0 d2 0\n"],
           call("argus.data.qrels", "read_qrels")),
    Reader("run trec", ".trec", lambda: [b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1e-3 x\n"],
           call("argus.data.runs", "read_run")),
    Reader("run json", ".json", lambda: [b'{"q1": {"d1": 2.5}, "q2": ["d1", "d2"]}'],
           call("argus.data.runs", "read_run")),
    Reader("queries", ".jsonl", lambda: [lines({"_id": "q1", "text": "who?", "answers": ["a"]})],
           call("argus.data.topics", "read_topics")),
    Reader("topics dpr", ".json", lambda: [DPR], call("argus.data.topics", "read_topics")),
    Reader("topics qas", ".tsv", lambda: [b"who?\t['a', \"b\"]\nwhen?\t['c']\n"],
           call("argus.data.topics", "read_topics")),
    Reader("dpr", ".json", lambda: [DPR], call("argus.data.dpr", "read_dpr")),
    Reader("excluded", ".jsonl", lambda: [lines({"_id": "q1", "excluded_ids": ["d1"]})],
           call("argus.data.excluded", "read_excluded")),
    Reader("json list", ".json", lambda: [b'[{"a": 1}, {"b": "]"}]', _corpus()[0]], _json_list),
    Reader("failures", ".json", lambda: [DPR], _failures),
    Reader("rules yaml", ".yaml", lambda: [RULES],
           call("argus.authority.domains.load", "load_domain")),
    Reader("endpoint yaml", ".yaml", lambda: [ENDPOINT],
           call("argus.retrievers.http.load", "load_endpoint")),
    Reader("suite toml", ".toml", lambda: [SUITE], call("argus.suite.reading", "read_suite")),
    Reader("edges", ".jsonl", lambda: [lines({"superseder": "b", "superseded": "a"})],
           call("argus.authority.edges", "read_edges")),
    Reader("proposals", ".csv",
           lambda: [b"decision,superseder,superseded,confidence,stated\naccept,b,a,0.9,1\n"],
           call("argus.authority.learning.files", "read_proposals")),
    Reader("wikitext", ".txt", lambda: [PAGE.split(b">", 7)[7]], _wikitext),
    Reader("pages of a dump", ".xml", lambda: [PAGE], _pages),
    Reader("dump bz2", ".bz2", lambda: [bz2.compress(PAGE * 40), bz2.compress(PAGE) * 3], _dump),
    Reader("dump gz", ".gz", lambda: [gzip.compress(PAGE * 40)], _dump),
    Reader("dump plain", ".xml", lambda: [PAGE * 4], _dump),
    Reader("wikidata items", ".json", lambda: [_item()], _items),
    Reader("n-triples", ".nt", lambda: [TRIPLE], _ntriples),
    Reader("triples tsv", ".tsv", lambda: [b"subject\tproperty\tobject\nQ1\tP1\tQ2\nQ2\tP1\tQ3\n"],
           _relations),
    Reader("html", ".html", lambda: [HTML], _html),
    Reader("markdown", ".md", lambda: [MARKDOWN, TOML_PAGE], _markdown),
    Reader("log", ".jsonl", lambda: [LOG], _traffic),
    Reader("profiles", ".jsonl", lambda: [PROFILE],
           call("argus.scenarios.files", "read_profiles")),
    Reader("expansions", ".jsonl",
           lambda: [lines({"_id": "d1", "queries": ["a"], "summary": "b"})],
           call("argus.scenarios.expansions", "read_expansions")),
    Reader("model answers", ".json", lambda: [ANSWER, b"```json\n" + ANSWER + b"\n```"], _answer),
    Reader("chat completions", ".json", lambda: [REPLY], _reply),
    Reader("embeddings", ".json", lambda: [EMBEDDINGS], _embeddings),
    Reader("index.json", ".json", _header,
           in_folder("index.json", call("argus.indexes.header", "read_header"))),
    Reader("ngram.json", ".json", _ngram_manifest,
           in_folder("ngram.json", call("argus.generative.index.manifest", "read_manifest"))),
    Reader("kb.json", ".json", _kb_header,
           in_folder("kb.json", call("benchmarks.faults.readers", "open_kb"))),
    Reader("store.json", ".json", lambda: [b'{"fingerprint": "m@1", "dim": 3}'],
           in_folder("store.json", call("argus.encoders", "stored_fingerprint"))),
    Reader("correction", ".npz", _correction, call("argus.indexes.correction", "read_correction")),
    Reader("summary.json", ".json", _results, _read_results),
    *log_readers.READERS,
    *kept_readers.READERS,
)  # fmt: skip
