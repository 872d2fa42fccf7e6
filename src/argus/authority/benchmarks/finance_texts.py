"""What events of an employee trading log say, and who and what they are about.

Requests and disclosures are written by people: they name the employee and the ticker symbol. What
supersedes them is written by desks, in another register: the issuer by its legal name, the employee
by a staff number. No text tells an event's id or an answer.
"""

from __future__ import annotations

from argus.authority.domains import load_domain

ABOUT: dict[str, tuple[str, ...]] = {
    "PreClearanceApproved": ("employee", "ticker"),
    "BlackoutAnnounced": ("ticker",),
    "BlackoutLifted": ("ticker",),
    "EmergencyException": ("employee", "ticker"),
    "ExceptionRevoked": ("employee", "ticker"),
    "WatchlistAdded": ("ticker",),
    "WatchlistRemoved": ("ticker",),
    "ConflictDisclosed": ("employee",),
    "ConflictAmended": ("employee",),
    "ConflictCleared": ("employee",),
    "PolicyAcknowledged": ("employee",),
    "PolicyUpdate": (),
}
"""Type of event -> the keys of its scope: what its text is about. A blackout that can be excepted
from is addressed to some employees (R3 needs one on both sides) and lists them: `ADDRESSED`."""

RULES = load_domain("trading").rules
"""Rules R1 to R10 of Appendix A."""

TEMPLATES: dict[str, tuple[str, ...]] = {
    "PreClearanceApproved": (
        "Pre-clearance approved: {employee} may trade up to {shares} shares of {ticker}. The "
        "requested trade is valid for {days} business days.",
        "Trade request of {employee} in {ticker} ({shares} shares): pre-clearance status set to "
        "approved, valid {days} days from entry.",
        "{employee} requested a personal trade in {ticker}. Pre-clearance for {shares} shares is "
        "approved; status open for {days} days.",
        "Approved pre-clearance for {employee}, security {ticker}, {shares} shares, personal "
        "account. Valid for {days} days.",
    ),
    "BlackoutAnnounced": (
        "Notice from the general counsel: material negotiations concerning {issuer} have begun. "
        "Nobody in the firm deals in its shares until further word.",
        "Closed window imposed on {issuer} ahead of its quarterly results. Personal dealing by "
        "staff stops today.",
        "Deal team {team} is engaged on a transaction with {issuer}. The name goes dark for the "
        "whole house with immediate effect.",
        "Embargo on {issuer}: an underwriting mandate was signed last night. Orders must be "
        "withdrawn before the market opens.",
    ),
    "BlackoutLifted": (
        "Results of {issuer} are now public; the closed window ends this evening. Dealing needs a "
        "fresh application.",
        "The mandate concerning {issuer} has lapsed and the embargo ends. Earlier permissions do "
        "not revive.",
        "General counsel: negotiations with {issuer} were announced to the market, so the house "
        "comes out of the dark period. Apply anew before dealing.",
    ),
    "EmergencyException": (
        "Hardship waiver granted by the chief risk officer to staff member {staff}: one sale of "
        "{issuer} holdings to meet a margin call, notwithstanding the closed window.",
        "Staff member {staff} must settle a court order and gets leave to sell {issuer} stock once "
        "within {days} days, embargo notwithstanding.",
        "Medical hardship of staff member {staff}: counsel signs a one-off dispensation to sell "
        "{issuer} holdings.",
    ),
    "ExceptionRevoked": (
        "The waiver held by staff member {staff} on {issuer} is withdrawn: the margin call was met "
        "by other means.",
        "Counsel withdraws the dispensation of staff member {staff} concerning {issuer}; no sale "
        "took place.",
    ),
    "WatchlistAdded": (
        "{issuer} enters the surveillance register after a meeting of team {team} with its board. "
        "Staff dealing in the name stops.",
        "Surveillance register: {issuer} entered by team {team}. Purchases and sales by staff are "
        "on hold.",
        "Research on {issuer} is about to be published, so the name goes on the monitored register "
        "and orders are held back.",
    ),
    "WatchlistRemoved": (
        "{issuer} leaves the surveillance register: team {team} has closed its file.",
        "Monitored register: {issuer} struck off today by team {team}, the report being out.",
        "The hold on {issuer} ends; its entry in the surveillance register is deleted.",
    ),
    "ConflictDisclosed": (
        "{employee} discloses an outside interest: a {role} of a supplier, unpaid, since the "
        "spring.",
        "Disclosure by {employee}: a close relative serves as {role} of a client of the firm.",
        "{employee} reports an outside activity as {role} of a private company.",
    ),
    "ConflictAmended": (
        "Staff member {staff} corrects an earlier filing on outside interests: the post is that of "
        "a {role}, and it is paid.",
        "Filing of staff member {staff} revised; the relative now serves as {role}.",
    ),
    "ConflictCleared": (
        "Ethics committee: the outside interest of staff member {staff} ended, file closed.",
        "The committee finds no objection to the post held by staff member {staff}.",
    ),
    "PolicyAcknowledged": (
        "{employee} signed the code of ethics, edition {edition}.",
        "Signature of {employee} under edition {edition} of the personal account dealing rules.",
    ),
    "PolicyUpdate": (
        "The code of ethics appears in a new edition, {edition}; signatures under earlier editions "
        "lapse.",
    ),
}

ADDRESSED = (
    "Closed window on {issuer} for the insider list alone: staff members {list} stop dealing in "
    "the name until further word.",
    "Deal team {team} has taken staff members {list} over the wall on {issuer}. For them the name "
    "goes dark today.",
    "Embargo on {issuer}, addressed to staff members {list}, who have seen the draft prospectus.",
)
"""Blackouts addressed to a list of employees, by their staff numbers."""

QUESTIONS = {
    "T0": "What is the pre-clearance status for {employee}'s requested trade in {ticker}?",
    "T1": "Is {employee}'s pre-clearance for {ticker} still valid?",
    "T2": "Can {employee} currently trade {ticker} given all recent compliance updates?",
    "T3": "What is {employee}'s current compliance status for trading {ticker}?",
}
"""Query templates of Appendix B."""

ROLES = ("director", "adviser", "treasurer", "partner", "trustee", "consultant", "shareholder")
DESKS = ("equities", "credit", "rates", "research", "treasury", "advisory")
OTHER_DESKS = ("legal", "risk committee", "investment banking", "group audit")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    """
    Ada Agnes Albert Alice Amy Andrew Anna Arthur Beatrice Bernard Bridget Carla Cecil Clara
    Colin Dana David Dora Edith Edmund Eleanor Emil Esther Felix Flora Frank Gerald Gina Grace
    Harold Helen Hugo Ida Ivan Jane Joel Judith Karl Kate Laura Leon Lydia Marcus Martha Miles
    Nadia Nora Oscar Paula Peter Quentin Rachel Ralph Rosa Samuel Sarah Simon Stella Theo Ursula
    Victor Vera Walter Wendy
    """
)
SURNAME_STARTS = _words(
    """
    Ash Alder Beck Birch Brad Bran Brock Brom Cal Carl Chad Charl Clay Cole Cran Crow Dal Dar
    Den Dray Eck Ed El Em Far Fen Fern Gar Gran Grim Had Har Hart Haw Hazel Hen Hol Ing Kel Ken
    Kil Kirk Lang Lea Lin Lock Lud Lyn Mal Mar Mel Nor Oak Pem Quar Rad Ral Ren Rock Ros Rud
    Shel Sher Stan Stav Tal Thorn Til Tor Wad Wal War Wes Whit Wil Win Wy Yar
    """
)
SURNAME_ENDS = _words(
    """
    bourne brook bury combe cott croft dale den field ford grave ham hurst land ley mere more
    ridge shaw stead thorpe ton well wick worth
    """
)
TICKER_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no symbol is a word."""
ISSUER_NAMES = _words(
    """
    Aurora Beacon Cobalt Condor Delta Ember Falcon Garnet Glacier Granite Harbor Helios Horizon
    Indigo Jupiter Keystone Lantern Liberty Lotus Magnolia Meridian Monarch Nimbus Nova Olympus
    Onyx Orchid Orion Pacific Paragon Pelican Phoenix Pinnacle Pioneer Polaris Prairie Quartz
    Raven Sapphire Sequoia Sierra Silver Solstice Sterling Summit Sycamore Titan Topaz Trident
    Tundra Vector Vertex Viking Vista Zenith Zephyr
    """
)
ISSUER_TRADES = _words(
    """
    Airlines Aluminium Bakeries Beverages Biologics Brewing Cement Ceramics Chemicals Coatings
    Containers Dairies Diagnostics Energy Fertilizers Foods Footwear Forestry Furniture Gaming
    Hotels Instruments Insurance Kitchens Logistics Minerals Motors Optics Packaging Paper
    Pharmaceuticals Plastics Railways Robotics Semiconductors Shipping Steel Telecom Textiles
    Turbines
    """
)
ISSUER_FORMS = ("Corporation", "Holdings plc", "Group AG", "Incorporated", "Limited")
