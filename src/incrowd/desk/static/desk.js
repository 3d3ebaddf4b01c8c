// The desk's own script: counts who is alone while roles are chosen, follows a job, shows how far an upload is, and
// where you are.
// Every page works without it.
"use strict";

const number = (value) => value.toLocaleString("en");

const part = (tag, words, kind) => {
  const element = document.createElement(tag);
  element.textContent = words;
  if (kind) element.className = kind;
  return element;
};

// What a form says is asked about a moment after the last change; the latest answer wins.
function askLater(form, path, concerns, line, show) {
  let timer = 0;
  let latest = 0;
  const ask = async () => {
    const mine = (latest += 1);
    line.setAttribute("aria-busy", "true");
    const answer = await fetch(path, { method: "POST", body: new URLSearchParams(new FormData(form)) })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (mine !== latest) return undefined;
    if (answer && answer.waiting) return setTimeout(() => mine === latest && ask(), 1500);
    line.removeAttribute("aria-busy");
    return show(answer);
  };
  form.addEventListener("change", (event) => {
    if (!concerns(event.target)) return;
    clearTimeout(timer);
    timer = setTimeout(ask, 400);
  });
}

// Who is alone with the quasi-identifiers that are chosen.
function followColumns(form) {
  const line = document.querySelector("[data-alone]");
  const show = (answer) => {
    const roles = [...form.querySelectorAll("select[name^='role:']")];
    const known = roles.filter((one) => one.value === "quasi-identifier").length;
    if (!known) {
      line.replaceChildren("No column is a quasi-identifier yet: what could somebody know of a person?");
    } else if (!answer || answer.error) {
      const next = answer ? `: ${answer.message}` : ". Keep your choice, and load the page again.";
      line.replaceChildren(`This could not be counted${next}`);
    } else {
      const words = `${number(answer.alone)} of ${number(answer.people)} ${answer.unit} are alone`;
      const rest = ` with these ${known} quasi-identifiers; ${number(answer.below)} share them with fewer than ${answer.k}.`;
      line.replaceChildren(part("strong", words, answer.alone ? "bad" : "good"), rest);
      if (answer.adds.length) {
        const [first] = answer.adds;
        line.append(" Without ", part("strong", first.name), `, ${number(first.alone)} fewer would be alone.`);
      }
    }
  };
  const concerns = (field) => {
    const isRole = field.name.startsWith("role:");
    if (isRole) field.closest("tr").dataset.role = field.value;
    return isRole;
  };
  askLater(form, "/alone", concerns, line, show);
}

// Whether the table can keep what is promised.
function followPromise(form) {
  const place = document.querySelector("[data-check]");
  const show = (answer) => {
    if (!answer || answer.error) {
      const box = part("div", "", "problem");
      box.setAttribute("role", "alert");
      box.append(part("p", answer ? answer.message : "This could not be checked. Keep it, and load the page again."));
      place.replaceChildren(box);
    } else {
      const fine = part("p", "Nothing speaks against this promise on this table.", "fine");
      place.replaceChildren(fine, ...answer.notices.map((notice) => part("p", notice, "note")));
    }
  };
  askLater(form, "/promise/check", () => true, place, show);
}

// A job: its stages while it runs; the page anew when it has ended.
function followJob(place) {
  const stages = place.querySelector("[data-stages]");
  const bar = place.querySelector("[data-share]");
  const left = place.querySelector("[data-left]");
  const waits = !bar;
  const look = async () => {
    const answer = await fetch(`/job/state?number=${place.dataset.job}`)
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (answer && (!answer.live || (waits && answer.state === "running"))) return location.reload();
    if (answer) {
      if (bar && answer.share !== null) [bar.hidden, bar.value] = [false, Math.max(bar.value, answer.share)];
      if (left && left.textContent !== answer.left) left.textContent = answer.left;
      stages.replaceChildren(
        ...answer.stages.map((stage, place) => {
          const line = document.createElement("li");
          line.textContent = `${stage.name} ${stage.far || ""} (${stage.seconds.toFixed(1)} s)`;
          if (place === answer.stages.length - 1) line.className = "now";
          return line;
        }),
      );
    }
    return setTimeout(look, 700);
  };
  setTimeout(look, 500);
}

// An upload: how far it is. RequestError or broken off, it says so in place.
function followUpload(form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = form.querySelector("[data-progress]");
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (now) => {
      if (now.lengthComputable) said.textContent = `${Math.floor((100 * now.loaded) / now.total)} % copied`;
    });
    request.addEventListener("load", () => {
      if (request.status === 200) return location.assign(request.responseURL);
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const problem = page.querySelector(".problem");
      said.textContent = problem ? problem.textContent.trim() : "The file was not taken.";
      return undefined;
    });
    request.addEventListener("error", () => {
      said.textContent = "The upload broke off. Is the desk still open?";
    });
    request.send(new FormData(form));
  });
}

// What is still being counted: the page anew; once a field was changed, only the part that waits, so that nothing is lost.
function followWaiting() {
  let changed = false;
  addEventListener("input", () => (changed = true));
  const look = async () => {
    const waiting = [...document.querySelectorAll("[data-again]")];
    if (!waiting.length) return undefined;
    if (!changed) return location.reload();
    const text = await fetch(location.href)
      .then((response) => response.text())
      .catch(() => "");
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const place of new Set(waiting.map((one) => one.closest("[data-part]")))) {
      const fresh = place && page.querySelector(`[data-part="${place.dataset.part}"]`);
      if (fresh && place.querySelector("[data-again]")) place.replaceChildren(...fresh.childNodes);
    }
    return setTimeout(look, 2500);
  };
  setTimeout(look, 2500);
}

// On a narrow screen steps and tools are strips: the page that is open is in sight.
function showPlace() {
  for (const here of document.querySelectorAll(".rail [aria-current]")) {
    const strip = here.closest("ol, ul");
    strip.scrollLeft = here.offsetLeft - (strip.clientWidth - here.offsetWidth) / 2;
  }
}

showPlace();
addEventListener("resize", showPlace);
for (const form of document.querySelectorAll("[data-columns]")) followColumns(form);
for (const form of document.querySelectorAll("[data-promise]")) followPromise(form);
for (const place of document.querySelectorAll("[data-job]")) followJob(place);
for (const form of document.querySelectorAll("[data-upload]")) followUpload(form);
followWaiting();
