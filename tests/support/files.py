"""A folder of four small files: Markdown, text, HTML and PDF."""

from pathlib import Path

PAGES = {
    "hours.md": "The shop opens at nine. It closes at six on weekdays.",
    "sub/delivery.pdf": "Parcels leave our house at noon. Large ones go by lorry.",
    "sub/returns.html": "Goods go back within thirty days. We pay the postage.",
    "warranty.txt": "Our warranty lasts two years. Batteries are not covered.",
}
FRAMES = {
    ".md": "# Opening hours #\n\n{}\n",
    ".html": "<title>Shop</title><nav>Home</nav><h1>Sending <b>back</b></h1><p>{}</p>",
    ".txt": "{}",
}


def pdf(text: str) -> bytes:
    """Return a PDF of one page with a line of text."""
    stream = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode()
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 "
        + font + b">>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    ]  # fmt: skip
    content, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(b"%010d 00000 n \n" % len(content))
        content += b"%d 0 obj%s endobj\n" % (number, part)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(places)
    end = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(content)
    return content + table + end


def write_pages(folder: Path) -> None:
    """Write PAGES into a folder."""
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        frame = FRAMES.get(path.suffix)
        path.write_bytes(pdf(text) if frame is None else frame.format(text).encode())
