"""What disclosures of flaws and release notes of the fixing versions say.

A release note tells what changed in the code, never the flaw's name, what it allowed, or the
product: it shares no word with the questions.
"""

from __future__ import annotations

WEAKNESSES: dict[str, str] = {
    "buffer overflow": "Lengths are checked before bytes are copied.",
    "path traversal": "Names containing dots are normalised first.",
    "SQL injection": "Statements bind their parameters.",
    "cross-site scripting": "Output is escaped for HTML.",
    "cross-site request forgery": "Forms carry a token tied to the browser.",
    "server-side request forgery": "Outgoing calls go through an allow list.",
    "use-after-free": "Ownership of the handle moved to a counted reference.",
    "integer overflow": "Sizes are computed with saturating arithmetic.",
    "prototype pollution": "Merging skips special property names.",
    "XML external entity expansion": "Doctype declarations are off by default.",
    "unsafe deserialization": "Loading accepts plain data types alone.",
    "command injection": "Arguments are passed as a list, without a shell.",
    "open redirect": "Return addresses must be relative.",
    "race condition": "A lock now covers opening and checking.",
    "out-of-bounds read": "Indices are compared with the length.",
    "hard-coded credentials": "Passwords come from the environment.",
    "weak random numbers": "Tokens are drawn from the operating system.",
    "timing side channel": "Comparison takes constant time.",
    "regular expression denial of service": "Matching is linear now.",
    "null pointer dereference": "Absent values raise an error early.",
    "template injection": "Rendering runs in a sandbox.",
    "missing authentication": "Every route asks who is calling.",
    "certificate validation bypass": "Chains are checked up to the root.",
    "memory leak": "Buffers are released when a call ends.",
}
"""Weakness -> what a release note says of its mending."""

COMPONENTS = (
    "archive extractor", "image decoder", "login form", "session manager", "search endpoint",
    "file upload handler", "template renderer", "PDF exporter", "configuration loader",
    "plugin installer", "mail importer", "video transcoder", "comment editor", "REST gateway",
    "password reset page", "font loader", "calendar parser", "webhook dispatcher", "map renderer",
    "backup scheduler", "audit viewer",
)  # fmt: skip
ATTACKERS = (
    "a remote attacker", "an unauthenticated visitor", "a logged-in user", "a malicious server",
    "a local user", "an attacker on the same network", "a crafted document", "a hostile guest",
)  # fmt: skip
EFFECTS = (
    "execute arbitrary code", "read arbitrary files", "overwrite configuration",
    "crash the service", "steal session cookies", "escalate privileges",
    "exhaust memory", "leak private keys",
    "impersonate other accounts", "tamper with stored records", "reach internal hosts",
    "bypass access control",
)  # fmt: skip

DISCLOSURES = (
    "{cve_id}: a {weakness} in the {component} of {product} before {version} lets {attacker} "
    "{effect}. Severity {severity}. No patch is available at the time of writing.",
    "{product} up to {version} contains a {weakness} in its {component}. By sending specially made "
    "input, {attacker} can {effect} ({cve_id}). The vulnerability is still unpatched; disable the "
    "{component} as a workaround.",
    "Advisory {cve_id} for {product}. The {component} is affected by a {weakness}: {attacker} may "
    "{effect}. Reported by an independent researcher; the vendor has been informed. Severity "
    "{severity}.",
    "A vulnerability was found in the {component} of {product} {version} and earlier. It is a "
    "{weakness} through which {attacker} is able to {effect}. Tracked as {cve_id}, severity "
    "{severity}, currently not fixed.",
)
CHORES = (
    "Builds run on newer compilers.", "Typos in the manual are corrected.", "Logging is quieter.",
    "Startup takes half the time.", "Translations for Finnish and Thai.", "Dropped old runtimes.",
    "The test suite runs in parallel.", "Dependencies are refreshed.", "Dark mode for the docs.",
    "Packages for two more distributions.", "Metrics carry clearer labels.",
    "Examples are shorter.",
)  # fmt: skip
NOTES = (
    "## {fixed}\n\n- {change}\n- {chore}\n- {second}",
    "Release {fixed}\n\n{chore} {change} {second} Upgrading takes no migration.",
    "{fixed} ({month})\n* {chore}\n* {second}\n* {change}",
)
MONTHS = ("spring", "summer", "autumn", "winter")
SEVERITIES = ("low", "moderate", "high", "critical")

GENERIC = (
    "Is the {weakness} in the {component} still unpatched?",
    "Has the {weakness} that lets {attacker} {effect} been patched?",
    "Is there a patch for the {weakness} in the {component} that lets somebody {effect}?",
    "Can {attacker} still {effect} because of the vulnerability in the {component}?",
)
HINT = "For {product}: {question}"

PRODUCT_STARTS = (
    "aki bori cal dex elo fen gru hyl ixo jun kor lum mox niv opa pir qua rel syl tor umb vex wim "
    "xan yor zel arbo bryn cleo drax"
)
PRODUCT_ENDS = (
    "base bind box cast core craft dash deck desk fetch flow forge gate grid hub kit lane link "
    "loom mesh node pack path pipe port press quill rack ring scope serve shelf stack store sync "
    "tide vault wave weave wire works yard zone"
)
