// The desk's own script: counts who is alone while roles are chosen, follows a job, shows how far an upload is, and
// where you are.
// Every page works without it.
"use strict";

const number = (value) => value.toLocaleString("en");

// Who is alone: asked again a moment after the last change; the latest answer wins.
function followColumns(form) {
  const line = document.querySelector("[data-alone]");
  let timer = 0;
  let latest = 0;
  const part = (tag, words, kind) => {
    const element = document.createElement(tag);
    element.textContent = words;
    if (kind) element.className = kind;
    return element;
  };
  const show = (answer, known) => {
    line.removeAttribute("aria-busy");
    if (!known) {
      line.replaceChildren("No column is a quasi-identifier yet: what could somebody know of a person?");
    } else if (!answer) {
      line.replaceChildren("This could not be counted. Keep your choice, and load the page again.");
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
  const count = async () => {
    const mine = (latest += 1);
    const known = [...form.querySelectorAll("select[name^='role:']")].filter((one) => one.value === "quasi-identifier");
    line.setAttribute("aria-busy", "true");
    const answer = await fetch("/alone", { method: "POST", body: new URLSearchParams(new FormData(form)) })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (mine !== latest) return undefined;
    if (answer && answer.waiting) return setTimeout(() => mine === latest && count(), 1500);
    return show(answer, known.length);
  };
  form.addEventListener("change", (event) => {
    if (event.target.name.startsWith("role:")) {
      event.target.closest("tr").dataset.role = event.target.value;
      clearTimeout(timer);
      timer = setTimeout(count, 400);
    }
  });
}

// A job: its stages while it runs; the page anew when it has ended.
function followJob(place) {
  const stages = place.querySelector("[data-stages]");
  const look = async () => {
    const answer = await fetch(`/job/state?number=${place.dataset.job}`)
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (answer && !answer.live) return location.reload();
    if (answer) {
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
for (const place of document.querySelectorAll("[data-job]")) followJob(place);
for (const form of document.querySelectorAll("[data-upload]")) followUpload(form);
if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 2500);
