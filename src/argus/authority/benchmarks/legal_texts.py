"""What rulings of invented cases say, and the opinions that overrule them.

An opinion cites the earlier decision by volume and page, names neither its parties nor its
doctrine, and never says "good law": it shares no word with the questions.
"""

from __future__ import annotations

DOCTRINES = (
    "attractive nuisance", "adverse possession", "anticipatory repudiation", "assumption of risk",
    "bona fide purchaser", "caveat emptor", "charitable immunity", "collateral estoppel",
    "comparative negligence", "constructive eviction", "constructive trust",
    "corporate opportunity", "cy pres", "dead hand control", "deepening insolvency",
    "diminished capacity",
    "direct infringement", "doctrine of equivalents", "easement by necessity",
    "economic substance", "efficient breach", "election of remedies", "enterprise liability",
    "equitable tolling", "exclusionary rule", "executive privilege", "exhaustion of remedies",
    "fair comment", "fair use", "felony murder", "fiduciary loyalty", "first sale",
    "forum selection", "frustration of purpose", "fruit of the poisonous tree",
    "habitability warranty",
    "implied consent", "implied licence", "impossibility of performance", "inevitable discovery",
    "informed consent", "interspousal immunity", "joint enterprise", "judicial notice", "laches",
    "last clear chance", "learned intermediary", "lost chance", "market share liability",
    "merger of estates", "mutual mistake", "nuisance per se", "parol evidence", "part performance",
    "piercing the veil", "plain view", "political question", "prior restraint",
    "promissory estoppel", "public trust", "qualified privilege", "quantum meruit",
    "ratification of agency", "res ipsa loquitur", "respondeat superior", "riparian rights",
    "rule against perpetuities", "sovereign immunity", "spoliation inference",
    "strict product liability", "substantial performance", "successor liability",
    "transferred intent", "unclean hands", "vicarious admission",
)  # fmt: skip
"""Seventy-five."""

SETTINGS = (
    "a boundary dispute between two farms", "the sinking of a ferry", "a fire in a warehouse",
    "the sale of a mill", "an accident at a railway crossing", "a failed harvest contract",
    "the lease of a theatre", "a shipment of spoiled fruit", "an unpaid surgeon",
    "the collapse of a scaffold", "a quarrel over a river dam", "the estate of a widow",
    "a newspaper report", "a bank's refusal of payment", "the closing of a factory",
    "a search of a barn", "the dismissal of a teacher", "a patent on a loom",
)  # fmt: skip
HOLDINGS = (
    "the burden lies on the party who invokes it", "it does not extend to third parties",
    "it applies without proof of fault", "a written notice is required",
    "it ends with the death of either party", "silence does not amount to waiver",
    "it bars recovery in full", "damages are limited to the price", "it binds the state as well",
    "knowledge of the agent is imputed", "delay of a year defeats it", "it yields to a statute",
)  # fmt: skip
RULINGS = (
    "{plaintiff} v. {defendant}, {cite}. The case arose from {setting}. On the doctrine of "
    "{doctrine} the court holds that {holding}. Judgment for {plaintiff}.",
    "{cite}. {plaintiff} v. {defendant}. Appeal from a judgment concerning {setting}. We hold, "
    "applying {doctrine}, that {holding}; the precedent in this state is settled. Affirmed.",
    "In {plaintiff} v. {defendant} ({cite}), a matter of {setting}, the question was one of "
    "{doctrine}. The court ruled that {holding}. {defendant} bears the costs.",
    "Opinion of the court, {cite}. {plaintiff} sued {defendant} after {setting}. The rule of "
    "{doctrine} governs: {holding}. Reversed and remanded.",
)
OPINIONS = (
    "We granted review to reconsider {cite}. Experience has shown its reasoning to be unworkable, "
    "and we overrule it today. Reliance interests do not save it.",
    "What was announced at {cite} cannot be squared with later enactments. To that extent it is "
    "abrogated, and courts below shall no longer follow it.",
    "The bench, sitting in full, departs from {cite}. Its premises were mistaken when written. "
    "Overruled; the matter returns for a new trial under the present test.",
)
GENERIC = (
    "Is the precedent on {doctrine} still good law?",
    "Which ruling on {doctrine} is controlling now?",
    "Does the court's ruling on {doctrine} still stand?",
    "Can I rely on the holding about {doctrine}?",
)
HINT = "{question} ({plaintiff} v. {defendant})"
