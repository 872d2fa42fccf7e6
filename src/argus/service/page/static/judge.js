"use strict";
// Judge mode: keys press buttons; every grade goes to the service before the next one is shown.
{
  const box = () => document.getElementById("judge");
  const article = () => box().querySelector("article");
  const say = (text) => { document.getElementById("said").textContent = text; };
  const store = () => `argus-judged ${box().dataset.at}`;
  let last = Promise.resolve();

  function log() {
    try { return JSON.parse(sessionStorage.getItem(store())) ?? []; } catch { return []; }
  }
  function note(entries) {
    try { sessionStorage.setItem(store(), JSON.stringify(entries.slice(-200))); } catch { /* undo ends with the page */ }
  }

  async function load(path, body) {
    const answer = await fetch(path, body === undefined
      ? { headers: { "x-part": "1" } }
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    if (!answer.ok) {
      const text = await answer.text();
      let detail = text;
      try { detail = JSON.parse(text).detail; } catch { /* a text */ }
      throw new Error(typeof detail === "string" ? detail : JSON.stringify(detail));
    }
    box().innerHTML = await answer.text();
  }

  function waiting() {
    return [...article().querySelectorAll(".dots li")].filter((one) => one.textContent === "·").map((one) => one.title);
  }

  async function press(key) {
    const button = box().querySelector(`[data-key="${key}"]`);
    if (!button) return;
    const { question, document: shown } = article().dataset, at = box().dataset.at;
    document.getElementById("problem").textContent = "";
    try {
      if (key === "s") {
        await load(`${at}?after=${encodeURIComponent(question)}`);
      } else if (key === "u") {
        const entries = log(), undone = entries.pop();
        if (!undone) { say("Nothing to undo."); return; }
        await load(at, { ...undone, grade: null, go_on: false });
        note(entries);
      } else {
        const documents = key === "x" ? waiting() : [shown];
        await load(at, { question, documents, grade: Number(button.dataset.grade) });
        note([...log(), { question, documents }]);
      }
      const judged = document.getElementById("measured").textContent;
      const interval = document.getElementById("interval");
      say(`${judged} judged.${interval ? ` Failure rate ${interval.textContent}.` : ""} ${article().querySelector("h2").textContent}`);
    } catch (error) {
      document.getElementById("problem").textContent = visible(error.message);
    }
  }

  const queue = (key) => { last = last.then(() => press(key)); };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#judge [data-key]");
    if (button) queue(button.dataset.key);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest?.("input, textarea, select")) return;
    const key = event.key === "3" ? "y" : event.key === "0" ? "n" : event.key.toLowerCase();
    if (!/^[ynxsu12]$/.test(key)) return;
    event.preventDefault();
    queue(key);
  });
}
