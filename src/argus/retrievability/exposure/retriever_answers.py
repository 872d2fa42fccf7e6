"""Ask a retriever of somebody else's for every document, or read its answers from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.fields import read_parents
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query
from argus.jobs.workspace import Record
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings
from argus.retrievability.exposure.parent_lists import fold_answers
from argus.retrievability.exposure.parents import Parents, fold_findings
from argus.retrievability.exposure.probes import summarise_probes
from argus.retrievability.exposure.retriever_probes import probe_queries, rank_probes
from argus.retrievability.exposure.summary import RetrieverFacts, SearchedFacts, SomeAnswersFacts
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_of


def ask_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    source: Answerer,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[Findings, SearchedFacts]:
    """Return the findings of the answers.

    Raises ArgusError where no probe is answered, InputError where no result is a document.
    """
    probes = probe_queries(documents, queries, config)
    parents = None
    if config.parent_field is not None:
        of_chunk = read_parents(documents, config.parent_field)
        parents = Parents.of(config.parent_field, of_chunk, probes.documents)

    def ask(queries: Sequence[Query], k: int) -> tuple[str, Answers]:
        return answers_of(
            source, queries, k, documents=documents, folder=folder, record=record, what="probes"
        )

    with record.timed("asking"):
        name, answers = ask(probes.queries, config.k)
    ids = dict.fromkeys([*(d.id for d in documents), *(parents.ids if parents else ())])
    require_known(answers.run, ids, name)
    failures = {d.id: "no text" for d in documents if not d.content.strip()}
    ranks = rank_probes(probes, answers, config.k, failures)
    exposed = summarise_probes(ranks.probes, len(probes.documents), k=config.k)
    of_parents, folded = None, None
    if parents is not None:
        again = None if source.run is not None else lambda queries, k: ask(queries, k)[1]
        folded = fold_answers(ranks, answers.run, parents, config.k, again)
        of_parents = fold_findings(documents, parents, ranks, folded.lists, config.k)
    facts: SomeAnswersFacts = folded.facts() if folded else {}
    if answers.warning:
        facts["warning"] = answers.warning
    note = note_of(name, answers)
    retriever: RetrieverFacts = {
        "name": name,
        "held_out": False,
        "longest_list": ranks.longest,
        "strange": ranks.strange - (folded.whole_documents if folded else 0),
        "kept": note["kept"],
        "reasons": note["reasons"],
        **facts,
    }
    findings = Findings(documents, ranks.searched, ranks.probes, exposed, of_parents)
    return findings, {"text_window": None, "retriever": retriever}
