#!/bin/sh
# Install a wheel alone, without extras, in a fresh environment of each Python, and use it.
# usage: try_wheel.sh WHEEL PYTHON...   A Python that is not here is named and skipped; if none of
# them is here, that is an error.
set -eu
wheel=$(realpath "$1")
shift
tried=0
for python in "$@"; do
  if ! "$python" -c "" >/dev/null 2>&1; then # a shim may be there without its Python
    echo "skipped: no $python here"
    continue
  fi
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  "$python" -m venv "$home/venv"
  "$home/venv/bin/pip" install -q "$wheel"
  cd "$home"
  printf '%s\n' '{"_id": "d0", "title": "Ska", "text": "Ska is music from Jamaica.", "type": "note"}' \
    '{"_id": "d1", "title": "Reggae", "text": "Reggae followed ska.", "type": "note"}' > docs.jsonl
  printf '{"_id": "q1", "text": "music from jamaica"}\n' > q.jsonl
  printf 'query-id\tcorpus-id\tscore\nq1\td0\t1\n' > qrels.tsv
  printf 'q1 Q0 d0 1 2.0 x\nq1 Q0 d1 2 1.0 x\n' > run.trec
  printf 'superseder\tsuperseded\nd1\td0\n' > edges.tsv
  printf 'def search(query, k):\n    return ["d0", "d1"]\n' > search.py
  argus="$home/venv/bin/argus"
  "$argus" evaluate --queries q.jsonl --qrels qrels.tsv --run run.trec --out judged > out.txt
  "$argus" gate judged --min-ndcg 0.9 > out.txt
  "$argus" init --corpus docs.jsonl --retriever search.py:search > out.txt
  "$argus" exposure --config argus.toml > out.txt
  "$argus" authority search ska --records docs.jsonl --edges edges.tsv | grep -q d1
  "$argus" doctor --config argus.toml > out.txt
  "$home/venv/bin/python" -c 'import sys, argus; print(sys.version.split()[0], argus.__version__, "works")'
  cd / && rm -rf "$home"
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "none of these Pythons is here"; exit 1; }
