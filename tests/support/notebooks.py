"""A notebook's code cells, run in order in this process: no kernel, no server.

`python -m tests.support.notebooks FILE` runs it in its folder and writes the outputs into it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield every code cell with the outputs that it has now; run in the working directory."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        yield cell, _outputs("".join(cell["source"]), names, number)


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell; return what it prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            expression = compile(ast.Expression(last.value), f"cell {number}", "eval")
            value = eval(expression, names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": shown(value),
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def shown(value: Any) -> dict[str, Any]:
    """Return a value as a notebook shows it: as text, and as HTML or a figure where it has one."""
    if hasattr(value, "to_plotly_json"):
        figure = json.loads(value.to_json())
        return {"text/plain": ["Figure"], "application/vnd.plotly.v1+json": figure}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def text_of(outputs: list[dict[str, Any]]) -> str:
    """Return the outputs as plain text."""
    return "\n".join(
        "".join(output["text"] if "text" in output else output["data"]["text/plain"])
        for output in outputs
    )


def main() -> None:
    """Write the outputs of a notebook into it."""
    path = Path(sys.argv[1]).resolve()
    notebook = json.loads(path.read_text("utf-8"))
    with contextlib.chdir(path.parent):
        for number, (cell, outputs) in enumerate(run(notebook), 1):
            cell["execution_count"], cell["outputs"] = number, outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
