"use strict";

function node(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick" || name === "oninput") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const show = {
  text: (v) => String(v ?? ""),
  count: (v) => (v === null ? "" : v.toLocaleString("en")),
  share: (v) => (v === null ? "" : v.toFixed(3)),
  interval: (v) => `${v[0].toFixed(2)}–${v[1].toFixed(2)}`,
  lines: (v) => node("div", {}, ...v.split("\n").map((line) => node("div", { class: "line" }, line))),
  said: (v) => (v === null ? "" : v[0]),  // [in words, what to sort by]
  band: (v) => node("span", { class: `band ${v}` }, v),
};
const numeric = new Set(["count", "share", "interval"]);
const LONG = 40;  // characters of a text that gets a wide column
const sortKey = (v) => (Array.isArray(v) ? v[1] : v);

function compare(a, b) {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b));
}

function drawTable(host, table) {
  const perPage = Number(host.dataset.rows || 25);
  const isLong = table.columns.map((c, i) => (c.kind === "text" || c.kind === "lines") && table.rows.some((r) => String(r[i] ?? "").length > LONG));
  const bandColumn = table.columns.findIndex((c) => c.kind === "band");
  const haystacks = table.rows.map((r) => r.filter((v) => typeof v === "string").join(" ").toLowerCase());
  let state = { query: "", band: "", column: -1, ascending: true, page: 0 };

  const input = node("input", {
    type: "search", placeholder: "Search", "aria-label": "Search this table",
    oninput: () => update({ query: input.value.toLowerCase(), page: 0 }),
  });
  const bands = bandColumn < 0 ? [] : ["low", "mid", "high"].map((band) =>
    node("button", { "aria-pressed": "false", onclick: () => update({ band: state.band === band ? "" : band, page: 0 }) }, band));
  const headers = table.columns.map((column, i) => node("th", {
    scope: "col", class: numeric.has(column.kind) ? "num" : "", "aria-sort": "none",
  }, node("button", {
    type: "button", title: "Sort",
    onclick: () => update({ column: i, ascending: state.column === i ? !state.ascending : true, page: 0 }),
  }, column.name || "note")));
  const body = node("tbody");
  const status = node("span");
  const previous = node("button", { onclick: () => update({ page: state.page - 1 }) }, "Previous");
  const next = node("button", { onclick: () => update({ page: state.page + 1 }) }, "Next");

  function update(change) {
    state = { ...state, ...change };
    let chosen = [...table.rows.keys()].filter((i) =>
      haystacks[i].includes(state.query) && (!state.band || table.rows[i][bandColumn] === state.band));
    if (state.column >= 0) {
      const sign = state.ascending ? 1 : -1;
      const key = (i) => sortKey(table.rows[i][state.column]);
      chosen.sort((a, b) => sign * compare(key(a), key(b)) || a - b);
    }
    const pages = Math.max(1, Math.ceil(chosen.length / perPage));
    state.page = Math.min(Math.max(0, state.page), pages - 1);
    const visible = chosen.slice(state.page * perPage, (state.page + 1) * perPage);
    body.replaceChildren(...visible.map((i) => node("tr", {}, ...table.rows[i].map((value, c) => {
      const kind = table.columns[c].kind;
      return node("td", numeric.has(kind) ? { class: "num" } : isLong[c] ? { class: "long" } : {}, show[kind](value));
    }))));
    headers.forEach((header, i) => {
      if (i === state.column) header.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
      else header.setAttribute("aria-sort", "none");
    });
    bands.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === state.band)));
    status.textContent = chosen.length
      ? `${(state.page * perPage + 1).toLocaleString("en")}–${(state.page * perPage + visible.length).toLocaleString("en")} of ${chosen.length.toLocaleString("en")}`
      : "nothing found";
    previous.disabled = state.page === 0;
    next.disabled = state.page >= pages - 1;
  }

  const pager = node("div", { class: "pager" }, previous, next, status);
  const hasPages = table.rows.length > perPage;
  if (hasPages || bands.length) host.append(node("div", { class: "controls" }, input, ...bands));
  host.append(node("div", { class: "scroll" }, node("table", {}, node("thead", {}, node("tr", {}, ...headers)), body)));
  if (hasPages) host.append(pager);
  update({});
}

let tables = null;  // read when the first of them is to be seen

function drawTables(host) {
  host.querySelectorAll("[data-table]").forEach((place) => {
    tables ??= JSON.parse(document.getElementById("tables").textContent);
    if (!place.firstChild) drawTable(place, tables[place.dataset.table]);
  });
}

document.querySelectorAll("details.section").forEach((section) => {
  if (section.open) drawTables(section);
  section.addEventListener("toggle", () => { if (section.open) drawTables(section); });
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; drawTables(one); }));
if (location.hash === "#all") document.querySelectorAll("details").forEach((one) => { one.open = true; });
document.querySelectorAll(".copy button").forEach((button) => {
  button.onclick = () => {
    const code = button.previousElementSibling;
    getSelection().selectAllChildren(code);
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(() => document.execCommand("copy"));
    else document.execCommand("copy");
    button.textContent = "Copied";
  };
});
