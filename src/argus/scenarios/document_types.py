"""Types of documents, by which SPIKE groups its results (§5, Figure 6, appendix C.1.1).

The paper takes the type of a document from the data set that it is in. A corpus says it by a field
(`--by type`). Where it has none, `--by document-type` reads it from the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from argus.data.fields import PayloadField
from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.measures import slices
from argus.measures.slices import Sliced, Slicing, Trials

FIELD = "document-type"  # In the place of a field: the look of a document's text.
# Marks of formulas per word from which a text is mathematics. Of 99% of prose there are fewer.
MATH_SHARE = 0.02
CODE_SHARE = 0.3  # Share of lines that read as code from which a text is code.
_LATEX = re.compile(r"\\[a-zA-Z]{2,}|\$[^$\n]+\$")
_FORMULA = re.compile(
    r"\\[a-zA-Z]{2,}|\$|[∑Σ∫∏√∞∂∇≤≥≠≈∈∉⊂⊆∪∩∀∃→⇒⇔×÷±]|[_^][\w{(]|\b\w{1,3}\s*[=<>]\s*\S"
    r"|\b[a-zA-Z]\([a-zA-Z](?:,\s*[a-zA-Z])*\)"
)
# A line of code of the usual languages.
_CODE = re.compile(
    r"^\s*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:{]|import\s+[\w.{*]+|from\s+\S+\s+import\b"
    r"|(?:el)?if\b.*[:{]$|(?:else|try|finally)\s*[:{]|(?:for|while|with|except)\b.*[:{]$|return\b"
    r"|raise\s+\w+|yield\b|(?:public|private|protected|static|const|let|var|function|fn)\s+\w+"
    r"|#include|#define|#!|//|/\*|\*/|@\w+|>>>|\.\.\.\s|\$\s)"
    r"|[;{}]\s*$|\)\s*:\s*$|^\s*[\])}]+[,;]?\s*$"
    r"|^\s*[\w.\[\]\"']+\s*(?:[-+*/|&]?=|:=)\s*\S|^\s*[\w.]+\(.*\)\s*$|=>|\w\(\w*\)\.\w"
)


class DocumentType(StrEnum):
    """Kind of a document's writing (SPIKE appendix C.1.1)."""

    NATURAL = "natural language"
    CODE = "code"
    MATH = "math"


# The paper's type of each data set of BRIGHT, as its tables call them.
BRIGHT: Mapping[str, DocumentType] = {
    **dict.fromkeys(("Bio.", "Earth.", "Econ.", "Psy.", "Sus."), DocumentType.NATURAL),
    **dict.fromkeys(("Rob.", "Stack.", "Leet.", "Pony"), DocumentType.CODE),
    **dict.fromkeys(("Aops", "TheoQ.", "TheoT."), DocumentType.MATH),
}
# λ of M+E that is best in the mean of each type's data sets by SPIKE Table 7, of 0.5 to 0.9.
#
# The text says that 0.7 is best of nearly all components. Of M+E 0.5 is, in the table's own mean
# (22.1 against 21.6). For code 0.5 and 0.6 are equal.
PUBLISHED_WEIGHTS: Mapping[DocumentType, float] = {
    DocumentType.NATURAL: 0.5,
    DocumentType.CODE: 0.5,
    DocumentType.MATH: 0.9,
}


def document_type(text: str) -> DocumentType:
    """Return the look of a text: LaTeX, lines of code, other formulas, else language.

    A rule of thumb for text in any language. A field that says the type is better. Prose about
    mathematics is prose.
    """
    least = MATH_SHARE * len(text.split())
    if least and len(_LATEX.findall(text)) >= least:
        return DocumentType.MATH
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and sum(_CODE.search(line) is not None for line in lines) >= CODE_SHARE * len(lines):
        return DocumentType.CODE
    is_math = least and len(_FORMULA.findall(text)) >= least
    return DocumentType.MATH if is_math else DocumentType.NATURAL


def type_slicings(documents: Sequence[Document], fields: Sequence[str]) -> list[Slicing]:
    """Return the slices of documents by each field. FIELD is read from the text.

    Where documents have a field of that name it counts. InputError as for `slicings`.
    """
    own, cut = PayloadField.parse(FIELD, "--by"), list[Slicing]()
    for field in dict.fromkeys(fields):
        if field == FIELD and not any(map(own.is_in, documents)):
            cut.append(slices.slicing(FIELD, [[str(document_type(d.text))] for d in documents]))
        else:
            cut += slices.slicings(documents, [field])
    return cut


def write_slices(
    folder: ArtifactFolder, name: str, cut: Sequence[Slicing], trials: Sequence[Trials]
) -> Sliced:
    """Write the shares of every slice, the worst first. Return their figures for the summary."""
    if not cut:
        return {}
    shares = slices.worst_first([s for one in trials for s in slices.slice_shares(cut, one)])
    folder.write_table(name, slices.slice_table(shares), csv=True)
    return {"slices": slices.slice_figures(cut, shares)}
