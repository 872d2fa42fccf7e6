"use strict";
// What the page does beyond links and forms: copying, light and dark, menus. Nothing is evaluated.

// A text with the characters that steer as escapes, as argus/visible.py has them.
const STEERING = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const visible = (text) => text.replace(STEERING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
{
  const dark = () => {
    const own = document.documentElement.dataset.theme;
    return own ? own === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const say = (text) => { document.getElementById("said").textContent = text; };

  async function copy(button) {
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // not a secure context: mark it, so that the keyboard copies it
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      say("The command is marked: copy it with the keyboard.");
      return;
    }
    const label = button.textContent;
    button.textContent = "Copied";
    say("Copied to the clipboard.");
    setTimeout(() => { button.textContent = label; }, 1500);
  }

  function turn() {
    const theme = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("argus-theme", theme); } catch { /* for this page alone */ }
    say(`${theme} colours`);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button?.dataset.do === "copy") copy(button);
    if (button?.dataset.do === "theme") turn();
    for (const menu of document.querySelectorAll("details.menu[open]"))
      if (!menu.contains(event.target)) menu.open = false;
    for (const list of document.querySelectorAll(".pick .choices"))
      if (!list.parentElement.contains(event.target)) list.replaceChildren();
  });
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.verb !== "get") return;
    for (const [name, value] of Object.entries(event.detail.parameters))  // short addresses
      if (value === "") delete event.detail.parameters[name];
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = event.target.closest?.("details.menu[open]");
      if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
      const pick = event.target.closest?.(".pick");
      if (pick) { pick.querySelector(".choices").replaceChildren(); pick.querySelector("input").focus(); }
    }
    if (event.key === "/" && !event.target.closest?.("input, textarea, select")) {
      const field = document.querySelector("input[type=search]");
      if (field) { event.preventDefault(); field.focus(); }
    }
  });
  document.addEventListener("DOMContentLoaded", () => {
    const here = document.querySelector(".pages a[aria-current]");
    const list = document.querySelector(".pages");
    if (here && getComputedStyle(list).display === "flex")
      list.scrollLeft = here.offsetLeft - (list.clientWidth - here.offsetWidth) / 2;
  });
}
