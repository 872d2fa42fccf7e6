"use strict";
// Forms that start jobs, and jobs that are followed by their events. Texts are put in as text.
{
  const say = (text) => { document.getElementById("said").textContent = text; };
  const section = () => document.getElementById("jobs");

  async function ask(method, path, body) {
    const answer = await fetch(path, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const record = await answer.json();
    if (!answer.ok) {
      const detail = record.detail;
      throw new Error(typeof detail === "string" ? detail : JSON.stringify(detail));
    }
    return record;
  }

  function seconds(s) {
    return s < 90 ? `${Math.max(1, Math.round(s))} s` : `${Math.round(s / 60)} min`;
  }

  const isLive = (job) => job.state === "queued" || job.state === "running";

  function show(card, job) {
    const live = isLive(job);
    card.dataset.job = job.id;
    card.dataset.state = job.state;
    if (job.command) card.querySelector(".what").textContent = visible(job.command);
    const state = card.querySelector(".state");
    state.textContent = job.state;
    state.className = `level state ${job.state}`;
    const bar = card.querySelector("progress"), step = card.querySelector(".step");
    bar.hidden = !live;
    bar.setAttribute("aria-label", `Progress of job ${job.id}`);
    const at = job.progress;
    if (at && at.total) bar.value = at.done / at.total; else bar.removeAttribute("value");
    const left = at && at.eta_s !== null ? `, about ${seconds(at.eta_s)} left` : "";
    const share = at && at.total ? ` ${at.done.toLocaleString("en")} of ${at.total.toLocaleString("en")}` : "";
    step.textContent = live && at ? `${visible(at.step)}${share}${left}` : "";
    card.querySelector("[data-cancel]").hidden = !live;
    card.querySelector("[data-resume]").hidden = !job.resumable;
    const printed = card.querySelector(".printed"), output = card.querySelector(".output");
    const text = live ? "" : (job.state === "failed" ? job.errors : job.output) || "";
    printed.textContent = visible(text);
    output.hidden = !text;
    if (job.state === "failed") output.open = true;
  }

  const MOST = 4;  // a browser keeps six connections to a service, streams among them
  const AGAIN_MS = 2000;  // until a job beyond those is looked at again
  let followed = 0;

  function follow(card) {
    if (followed >= MOST) {
      setTimeout(() => look(card), AGAIN_MS);
      return;
    }
    followed += 1;
    const events = new EventSource(`/jobs/${card.dataset.job}/events`);
    events.addEventListener("job", (event) => {
      show(card, JSON.parse(event.data));
    });
    events.addEventListener("end", (event) => {
      events.close();
      followed -= 1;
      end(card, JSON.parse(event.data));
    });
  }

  async function look(card) {
    try {
      const job = await ask("GET", `/jobs/${card.dataset.job}`);
      if (!isLive(job)) {
        end(card, job);
        return;
      }
      show(card, job);
    } catch (error) {
      say(visible(error.message));
    }
    follow(card);
  }

  function end(card, job) {
    show(card, job);
    say(`Job ${job.id} is ${job.state}.`);
    if (job.state === "done" && card.dataset.own) location.reload();
  }

  function newCard(job) {
    const home = section();
    const card = document.getElementById("job-card").content.firstElementChild.cloneNode(true);
    home.querySelector(".stack").prepend(card);
    home.hidden = false;
    card.dataset.own = "yes";
    show(card, job);
    follow(card);
    card.scrollIntoView({ block: "nearest" });
  }

  function wanted(form) {
    const jobs = [].concat(JSON.parse(form.dataset.start)), job = jobs.at(-1);  // fields are the last one's
    for (const field of form.querySelectorAll("[data-option]")) {
      const value = field.value.trim();
      if (value) job.options[field.dataset.option] = field.type === "number" ? Number(value) : value;
    }
    return jobs;
  }

  function lacking(form) {  // of a trial: what would measure it
    const has = (name) => form.querySelector(`[data-option="${name}"]`).value.trim();
    if (!("measures" in form.dataset) || has("profiles") || (has("queries") && has("qrels"))) return "";
    return "Choose judged questions and their judgements, or profiles: without them nothing is measured.";
  }

  async function start(form) {
    const problem = form.querySelector(".problem"), button = form.querySelector("button");
    problem.textContent = lacking(form);
    if (problem.textContent || (form.dataset.asks && !confirm(form.dataset.asks))) return;
    button.disabled = true;
    try {
      for (const job of wanted(form)) newCard(await ask("POST", "/jobs", job));
      say("The job is queued.");
    } catch (error) {
      problem.textContent = visible(error.message);
    }
    button.disabled = false;
  }

  async function again(button, what) {
    const card = button.closest(".job");
    try {
      const job = await ask("POST", `/jobs/${card.dataset.job}/${what}`);
      card.dataset.own = "yes";
      if (what === "cancel") return;  // its end may have come before this answer: who follows it tells
      show(card, job);
      follow(card);
    } catch (error) {
      say(visible(error.message));
    }
  }

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-start]")) return;
    event.preventDefault();
    start(event.target);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-cancel], [data-resume]");
    if (button) again(button, "resume" in button.dataset ? "resume" : "cancel");
  });
  document.addEventListener("DOMContentLoaded", () => {
    for (const card of document.querySelectorAll('#jobs .job[data-state="queued"], #jobs .job[data-state="running"]')) {
      card.dataset.own = "yes";
      follow(card);
    }
  });
}
