"use strict";
// Everything that comes from the job is put in as text.
const SVG = "http://www.w3.org/2000/svg";
const words_of_link = new URLSearchParams(location.search);
const token = words_of_link.get("token") || "";
const at = (path) => path + "?token=" + encodeURIComponent(token);
const byId = (id) => document.getElementById(id);

const make = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
};
const draw = (tag, attributes, text) => {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return element;
};

const none = "–";
const number = (value) => value === null || value === undefined ? none
  : value >= 1e9 ? (value / 1e9).toFixed(1) + " G" : value >= 1e6 ? (value / 1e6).toFixed(1) + " M"
  : value >= 1e4 ? (value / 1e3).toFixed(1) + " k" : String(Math.round(value * 10) / 10);
const percent = (part) => part === null || part === undefined ? none : Math.round(part * 100) + " %";
const bytes = (count) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return (unit ? count.toFixed(1) : count) + " " + units[unit];
};
const time = (s) => s === null || s === undefined ? none : s < 0.001 ? (s * 1e6).toFixed(0) + " µs"
  : s < 1 ? (s * 1000).toFixed(1) + " ms" : s < 120 ? s.toFixed(1) + " s"
  : s < 7200 ? (s / 60).toFixed(1) + " min" : (s / 3600).toFixed(1) + " h";

// A table keeps where it was scrolled to, as only its rows are replaced.
const table = (id, names, rows, empty) => {
  const cells = (row, tag) => {
    const line = document.createElement("tr");
    row.forEach((cell) => {
      const isText = typeof cell === "object" && cell !== null;
      line.append(make(tag, isText ? cell.text : cell, isText ? { class: "text" } : {}));
    });
    return line;
  };
  const body = rows.length ? rows.map((row) => cells(row, "td")) : [cells([{ text: empty }], "td")];
  byId(id).replaceChildren(...(rows.length ? [cells(names, "th")] : []), ...body);
};
const words = (text) => ({ text });

// Lines over time, each from 0 to the most of all.
const plot = (id, what, past, lines, show) => {
  const width = 640, height = 110, top = 6, left = 62;
  const values = past.flatMap((point) => lines.map((line) => line.of(point)));
  const most = Math.max(...values, lines[0].least || 1e-9);
  const label = what + (past.length ? ": now " + lines.map((line) => line.name + show(line.of(past.at(-1)))).join(", ") : "");
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height + 20}`, role: "img", "aria-label": label });
  svg.append(draw("rect", { class: "frame", x: left, y: top, width: width - left, height }));
  svg.append(draw("text", { x: 0, y: top + 10 }, show(most)), draw("text", { x: 0, y: top + height }, show(0)));
  if (past.length > 1) {
    const first = past[0].at_s, all = Math.max(past.at(-1).at_s - first, 1e-9);
    lines.forEach((line, nth) => {
      const points = past.map((point) => {
        const x = left + (point.at_s - first) / all * (width - left);
        return x.toFixed(1) + "," + (top + height - line.of(point) / most * height).toFixed(1);
      });
      svg.append(draw("polyline", { points: points.join(" "), class: nth ? "second" : "first" }));
    });
  }
  byId(id).replaceChildren(svg, make("figcaption", label));
};

// Where there are several hosts, each has its name above its nodes.
const map = (nodes) => {
  const cell = 26, wide = 640, high = 18, hosts = new Set(nodes.map((node) => node.host));
  const hasHead = (row) => hosts.size > 1 && (row === 0 || nodes[row].host !== nodes[row - 1].host);
  const heads = nodes.filter((_, row) => hasHead(row)).length;
  const svg = draw("svg", { viewBox: `0 0 ${wide} ${Math.max(nodes.length, 1) * (cell + 8) + heads * high}`, role: "img",
    "aria-label": "Load of each PE; the table has the same" });
  let below = 0;
  nodes.forEach((node, row) => {
    if (hasHead(row)) {
      svg.append(draw("text", { class: "host", x: 0, y: below + 13 }, node.host || "this host"));
      below += high;
    }
    const y = below + 4, pes = node.pes.length ? node.pes : [{ load: null }];
    const each = Math.min(cell, (wide - 90) / pes.length - 2);
    below += cell + 8;
    svg.append(draw("text", { x: 0, y: y + cell / 2 + 4 }, "node " + node.node));
    pes.forEach((pe, nth) => {
      const x = 80 + nth * (each + 2), gone = node.stage === "gone";
      svg.append(draw("rect", { class: gone ? "gone" : "frame", x, y, width: each, height: cell }));
      if (!gone && pe.load !== null) {
        const high = cell * pe.load;
        svg.append(draw("rect", { x, y: y + cell - high, width: each, height: high }));
      }
    });
  });
  byId("map").replaceChildren(svg);
};

const story = (loss) => [
  words(loss.node === null ? "launcher" : "node " + loss.node), time(loss.at_s), words(loss.what), words(loss.detected),
  time(loss.detect_s), time(loss.halt_s), time(loss.recover_s),
  words(loss.recover_s === null ? "not yet" : loss.version === null ? "the beginning" : "checkpoint " + loss.version),
  words(loss.replaced ? "yes" : "no"), number(loss.steps_redone),
];

const show = (job) => {
  byId("title").textContent = document.title = `${job.program} (${job.job})`;
  byId("state").textContent = `${job.state}, for ${time(job.at_s)}; --ft ${job.ft}, --balancer ${job.balancer}`;
  byId("warning").hidden = !job.degraded;
  byId("warning").textContent = job.degraded ? "Degraded: " + job.degraded : "";
  const there = job.nodes.filter((node) => node.stage !== "gone");
  const pes = there.flatMap((node) => node.pes), loads = pes.map((pe) => pe.load).filter((load) => load !== null);
  const mean = loads.length ? loads.reduce((sum, load) => sum + load, 0) / loads.length : null;
  const kept = job.checkpoints, last = kept.last;
  const now = [
    ["Nodes", `${there.length} of ${job.nodes.length}`], ["Load, on average", percent(mean)],
    ["Load, the most", percent(loads.length ? Math.max(...loads) : null)],
    ["Entries per second", number(job.rates.entries)],
    ["Messages between PEs, per second", number(job.rates.between_pes)],
    ["Messages between nodes, per second", number(job.rates.between_nodes)],
    ["Bytes between nodes, per second", bytes(Math.round(job.rates.bytes_between_nodes))],
    ["Memory", bytes(job.memory)], ["Log", bytes(job.kept)],
    ["Steps", job.steps.done + (job.steps.total === null ? "" : " of " + job.steps.total)],
    ["Steps per second", number(job.steps_per_s)], ["Time left", time(job.left_s)],
    ["Last checkpoint", kept.count ? time(kept.age_s) + " ago" : none], ["Next checkpoint", kept.next_s === null ? none : "in " + time(kept.next_s)],
    ["Balancing steps", job.balancing], ["Losses", job.lost],
  ];
  byId("now").replaceChildren(...now.map(([name, value]) => {
    const line = make("div");
    line.append(make("dt", name), make("dd", value));
    return line;
  }));
  byId("steps").hidden = job.steps.total === null;
  if (job.steps.total !== null) { byId("steps").max = job.steps.total || 1; byId("steps").value = job.steps.done; }
  plot("load", "Load of PEs", job.past, [{ name: "mean ", of: (point) => point.load, least: 1 }, { name: "most ", of: (point) => point.load_max }], percent);
  plot("rate", "Entries per second", job.past, [{ name: "", of: (point) => point.entries_per_s }], number);
  plot("memory", "Memory", job.past, [{ name: "", of: (point) => point.memory, least: 1 }], (value) => bytes(Math.round(value)));
  map(job.nodes);
  const rows = job.nodes.flatMap((node) => (node.pes.length ? node.pes : [{ pe: none, load: null }]).map((pe) => [
    pe.pe, words("node " + node.node), words(node.host || "this host"), words(node.stage), number(pe.objects), percent(pe.load),
    number(pe.entries_per_s), number(pe.waiting), bytes(node.memory),
  ]));
  table("pes", ["PE", words("node"), words("host"), words("is"), "objects", "load", "entries/s", "waiting", "memory of node"], rows, "none yet");
  table("objects", [words("chare"), "objects"], job.objects.map(([name, count]) => [words(name), number(count)]), "none yet");
  const step = job.balanced, events = [];
  if (last) events.push([words(`checkpoint ${last.version}`), time(last.at_s), words(last.trigger), number(last.objects), bytes(last.bytes), time(last.blocked_s), time(last.commit_s)]);
  if (step) events.push([words(`balancing step ${step.number}, ${step.strategy}: ${step.refused || "busiest PE " + time(step.max_before) + ", then " + time(step.max_predicted)}`),
    time(step.at_s), words(step.trigger), step.moves + " of " + step.objects, bytes(step.bytes_moved), time(step.strategy_s), time(step.step_s)]);
  table("events", [words("the last"), "at", words("why"), "objects", "bytes", "blocked, or deciding", "in all"], events, "none yet");
  table("losses", [words("who"), "at", words("what"), words("seen by"), "noticed in", "halted in", "back in", words("went back to"), words("replaced"), "steps again"],
    job.losses.map(story), "none");
  actions(job.takes);
};

const ASK = {
  checkpoint: { name: "Take a checkpoint", question: "Take a checkpoint now?" },
  balance: { name: "Balance", question: "Take a step of load balancing now?" },
  grow: { name: "Grow", question: "Go on with more nodes?", which: "How many (all that are missing, if empty):" },
  shrink: { name: "Shrink", question: "Go on without some nodes, whose processes end?", which: "Their numbers:", needs: true },
};
let shown = "";
const actions = (takes) => {
  if (shown === takes.join()) return;
  shown = takes.join();
  byId("ask").hidden = !takes.length;
  byId("actions").replaceChildren(...takes.filter((name) => ASK[name]).flatMap((name) => {
    const button = make("button", ASK[name].name, { type: "button", "data-ask": name });
    button.onclick = () => makeSure(name);
    return [button, " "];
  }));
};
const makeSure = (name) => {
  const { question, which, needs } = ASK[name], dialog = byId("sure"), input = byId("which");
  byId("question").textContent = question;
  byId("which-line").hidden = !which;
  byId("which-label").textContent = which || "";
  input.value = "";
  input.required = false;
  dialog.returnValue = "no";
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    const said = which ? input.value.trim() : "";
    if (needs && !said) { byId("answer").textContent = "Nothing was done: no node was named."; return; }
    ask((name + " " + said).trim());
  };
  dialog.showModal();
};
const ask = async (request) => {
  byId("answer").textContent = `${request}: the job is asked …`;
  try {
    const answer = await fetch(at("/ask"), { method: "POST", body: request });
    byId("answer").textContent = `${request}: ${(await answer.text()).trim()}`;
  } catch (error) {
    byId("answer").textContent = `${request}: the job does not answer`;
  }
};

// It connects again by itself: where the address was said, whoever leads the job next serves it under the same link.
const connect = () => {
  const source = new EventSource(at("/events"));
  source.onmessage = (event) => show(JSON.parse(event.data));
  source.onerror = () => {
    byId("state").textContent = "the job does not answer: it has ended, or another process leads it and has printed where";
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
  };
};
// With `&once` it shows one moment, for pictures.
const once = async () => show(await (await fetch(at("/snapshot"))).json());
if (words_of_link.has("once")) once(); else connect();
