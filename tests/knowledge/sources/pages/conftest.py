"""A company's wiki in HTML, Markdown and plain text, with all that such folders hold."""

import pytest


def html(title, body):
    return (
        f"<!DOCTYPE html><html><head><title>{title} - Acme Wiki</title><style>p {{}}</style></head>"
        "<body><header><h1>Acme Wiki</h1><a href='/index.html'>Home</a></header>"
        "<nav><p>Navigation is no prose.</p><a href='/dead-nav.html'>x</a></nav>"
        f"{body}<footer><p>Copyright by Acme.</p></footer></body></html>"
    )


PAGES = {
    "README.md": """# Acme Wiki

Welcome to the **wiki** of [Acme](company/about.html#history),
where `all` is written down[^1].

> [Rockets](./products/rockets.md)

* [Anvils](products/anvils.md?plain=1 "title")
* [Mail](mailto:a@acme.com), <https://acme.com>, [web](//acme.com), [top](#top)
* [Gone](gone.md), [logo](logo.png), [outside](../../etc/passwd.md)

See [the guide][g].
<a href="company/">inline HTML</a>

[g]: guide/
""",
    "company/about.html": html(
        "About us",
        """<main><p class="breadcrumbs"><a href="/">Home</a> » About</p>
<p><a href="../README.md">Back</a></p>
<h1>About Acme<a class="headerlink" href="#about">¶</a></h1>
<table><tr><td><p>An infobox is no prose.</p></table>
<p>Acme&nbsp;Corporation <em>makes</em> anvils<sup class="reference"><a href="#r1">[1]</a></sup> and
<a href="../products/Rockets.md">rockets</a>.<script>alert(1)</script></p><p>Second.</p>
<a href="/products/anvils">rooted</a> <a href="people/Ada%20Smith.html">percent</a>
<a href="HTTPS://acme.com/x">web</a> <a>no target</a> <a href="">empty</a></main>
<aside><p>An aside.</p><a href="/gone-aside.html">x</a></aside>""",
    ),
    "company/index.html": html("The company", "<p>It is <br>old.</p><a href='about'>x</a>"),
    "company/people/Ada Smith.html": html("x", "<h1>Ada Smith</h1><p>Ada Smith founded it.</p>"),
    "products/rockets.md": """---
title: "Rockets: a guide"
description: What flies.
aliases: [Projectiles]
---
Rockets
=======

Rockets fly {{ site.height }} up and come down.

[three](../company/About.html) [four](anvils.md)
""",
    "products/anvils.md": """---
title: Anvils
---
Anvils are heavy.
""",
    "guide/index.md": """Setext heading
===

The guide has [a part](part-two/) of it.
""",
    "guide/part-two.txt": """Part two
========

The second part of
the guide, after [the first](index).
""",
    "people/coyote.markdown": """---
- not a mapping
---

The coyote is our best customer. {#id}
""",
    "broken.md": "---\ntitle: [open\n---\n\nText after broken front matter.\n",
    "deck.md": "Deck.\n",
    "deck.html": "<p>Deck.</p>",
    "empty.md": " \n",
    "logo.png": b"\x89PNG",
    ".git/config.md": "Hidden.",
    "node_modules/x/README.md": "Hidden.",
    ".hidden.md": "Hidden.",
}


@pytest.fixture
def wiki(tmp_path):
    """The folder of the wiki; a link to a folder leads in a circle, and one leads nowhere."""
    folder = tmp_path / "wiki"
    for name, page in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page if isinstance(page, bytes) else page.encode())
    (folder / "products" / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "lost.md").symlink_to(folder / "nothing.md")
    return folder
