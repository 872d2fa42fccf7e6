"""A minimal S3-compatible store on loopback: objects of a bucket in a dictionary."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

REGION = "us-east-1"


class Store:
    """Objects by "bucket/key". refused: the methods that are not allowed."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.requests: list[tuple[str, str]] = []
        self.refused: set[str] = set()
        self.url = ""


def _without_chunks(data: bytes) -> bytes:
    """Take aws-chunked framing off: size;signature, the bytes, and so on, then trailers."""
    parts = []
    while data:
        head, _, data = data.partition(b"\r\n")
        size = int(head.partition(b";")[0], 16)
        if not size:
            break
        parts.append(data[:size])
        data = data[size + 2 :]
    return b"".join(parts)


def _handler(store: Store) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _parsed(self) -> tuple[str, dict[str, str]]:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query, keep_blank_values=True)
            store.requests.append((self.command, self.path))
            return unquote(parts.path).strip("/"), {k: v[0] for k, v in query.items()}

        def _body(self) -> bytes:
            if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
                data = self._chunks()
            else:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            framed = "aws-chunked" in (self.headers.get("Content-Encoding") or "")
            return _without_chunks(data) if framed else data

        def _chunks(self) -> bytes:
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            self.send_header("x-amz-bucket-region", REGION)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _error(self, status: int, code: str) -> None:
            self._answer(status, f"<Error><Code>{code}</Code></Error>".encode())

        def _refuses(self) -> bool:
            if self.command in store.refused:
                self._error(403, "AccessDenied")
            return self.command in store.refused

        def do_PUT(self) -> None:
            key, query = self._parsed()
            body = self._body()
            if self._refuses():
                return
            if "uploadId" in query:
                store.uploads[query["uploadId"]][int(query["partNumber"])] = body
            elif "/" in key:
                store.objects[key] = body
            self._answer(200, ETag='"0"')

        def do_POST(self) -> None:
            key, query = self._parsed()
            self._body()
            if self._refuses():
                return
            if "uploads" in query:
                name = str(len(store.uploads))
                store.uploads[name] = {}
                self._answer(
                    200,
                    f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId>"
                    "</InitiateMultipartUploadResult>".encode(),
                )
            else:
                parts = store.uploads.pop(query["uploadId"])
                store.objects[key] = b"".join(parts[n] for n in sorted(parts))
                self._answer(200, b"<CompleteMultipartUploadResult/>")

        def do_DELETE(self) -> None:
            key, _ = self._parsed()
            store.objects.pop(key, None)
            self._answer(204)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            key, query = self._parsed()
            if self._refuses():
                return
            if "list-type" in query:
                self._list(key, query)
            elif "/" not in key and self.command == "HEAD":
                self._answer(200)
            elif key not in store.objects:
                self._error(404, "NoSuchKey")
            else:
                self._object(store.objects[key])

        def _object(self, data: bytes) -> None:
            given = (self.headers.get("Range") or "").removeprefix("bytes=")
            if not given:
                self._answer(200, data, ETag='"0"')
                return
            first, last = (int(x) for x in given.split("-"))
            part = data[first : last + 1]
            where = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
            self._answer(206, part, Content_Range=where)

        def _list(self, bucket: str, query: dict[str, str]) -> None:
            prefix = f"{bucket}/{query.get('prefix', '')}"
            inside = sorted(k for k in store.objects if k.startswith(prefix))
            start = len(prefix)
            files = [k for k in inside if "/" not in k[start:] or not query.get("delimiter")]
            folders = {prefix + k[start:].split("/")[0] + "/" for k in set(inside) - {*files}}
            cut = len(bucket) + 1
            entries = "".join(
                f"<Contents><Key>{escape(k[cut:])}</Key><Size>{len(store.objects[k])}</Size>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                for k in files
            ) + "".join(
                f"<CommonPrefixes><Prefix>{escape(k[cut:])}</Prefix></CommonPrefixes>"
                for k in sorted(folders)
            )
            count = len(files) + len(folders)
            body = (
                f"<ListBucketResult><KeyCount>{count}</KeyCount>"
                f"<IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
            )
            self._answer(200, body.encode())

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def s3_store() -> Iterator[Store]:
    """Serve a store; `store.url` is what AWS_ENDPOINT_URL has to be."""
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(store))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
