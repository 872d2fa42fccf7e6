"""How title and text of a record were joined before it was embedded."""

from __future__ import annotations

import re

from argus.errors import InputError

OWN_RULE = "{title} {text}, a title once"
"""What `Document.content` is without a template."""
USUAL: tuple[str | None, ...] = (
    None, "{text}", "{title} {text}", "{title}\n{text}", "{title}\n\n{text}", "{title}: {text}",
    "{title}. {text}", "{title}",
)  # fmt: skip
"""What is tried where no template is named; None is the rule of `Document.content`."""
_FIELDS = re.compile(r"\{([^{}]*)\}")


def described(template: str | None) -> str:
    """Return a template as a person would give it."""
    return OWN_RULE if template is None else template.replace("\n", "\\n").replace("\t", "\\t")


def parse_template(text: str | None) -> str | None:
    r"""Return a template that a person wrote, `\n` and `\t` as what they stand for.

    Raises InputError for one without `{title}` and `{text}`, or with another field.
    """
    if text is None:
        return None
    template = text.replace("\\n", "\n").replace("\\t", "\t")
    fields = _FIELDS.findall(template)
    if not fields or not {"title", "text"}.issuperset(fields) or len(set(fields)) < len(fields):
        raise InputError(
            f"{text!r}",
            expected="{title} and {text}, or one of them, each once",
            fix=r"For example --template '{title}\n{text}'.",
            where="--template",
        )
    return template
