"""An engine of one's own over HTTP: POST /find {"words": ..., "limit": ...}."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import bm25s

lines = Path("../data/chunks.jsonl").read_text("utf-8").splitlines()
rows = [json.loads(line) for line in lines]
words = bm25s.BM25()
words.index(bm25s.tokenize([r["text"] for r in rows], show_progress=False), show_progress=False)


class Engine(BaseHTTPRequestHandler):
    """Answers {"answer": {"results": [{"chunk": ID, "points": SCORE}]}}."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tokens = bm25s.tokenize(question["words"], show_progress=False)
        limit = min(question["limit"], len(rows))
        places, scores = words.retrieve(tokens, k=limit, show_progress=False)
        results = [
            {"chunk": rows[place]["id"], "points": float(score)}
            for place, score in zip(places[0], scores[0], strict=True)
            if score > 0
        ]
        body = json.dumps({"answer": {"results": results}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Engine).serve_forever()
