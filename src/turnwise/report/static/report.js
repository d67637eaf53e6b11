"use strict";
(() => {
  const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // The value of a cell: what it says it is, else its text. An empty one is missing.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const own = cell.dataset.v;
    return own === undefined ? cell.textContent.trim() : own;
  };

  const sortRows = (table, header, ascending) => {
    const body = table.tBodies[0];
    const column = header.cellIndex;
    const numeric = header.dataset.kind === "number";
    const keyed = Array.from(body.rows, (row, place) => ({ row, place, value: valueOf(row, column) }));
    const missing = (entry) => entry.value === "" || (numeric && Number.isNaN(Number(entry.value)));
    keyed.sort((a, b) => {
      const gap = missing(a) - missing(b); // what is missing stays last, whichever way
      if (gap || missing(a)) return gap || a.place - b.place;
      const order = numeric ? Number(a.value) - Number(b.value) : words.compare(a.value, b.value);
      return (ascending ? order : -order) || a.place - b.place;
    });
    body.append(...keyed.map((entry) => entry.row));
    for (const other of table.tHead.rows[0].cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  };

  const makeSortable = (table) => {
    for (const header of table.tHead.rows[0].cells) {
      const button = header.querySelector("button");
      if (!button) continue;
      button.addEventListener("click", () => {
        sortRows(table, header, header.getAttribute("aria-sort") !== "ascending");
      });
    }
  };

  // Controls name their table by data-for.
  const makeFilter = (tools) => {
    const table = document.getElementById(tools.dataset.for);
    const text = tools.querySelector("input");
    const group = tools.querySelector("select");
    const status = tools.querySelector("[role=status]");
    const rows = Array.from(table.tBodies[0].rows);
    let texts = null;
    const searchable = (row) =>
      Array.from(row.cells, (cell) => (cell.hasAttribute("data-unsearched") ? "" : cell.textContent)).join(" ").toLowerCase();
    const apply = () => {
      const wanted = text ? text.value.trim().toLowerCase() : "";
      const chosen = group ? group.value : "";
      if (wanted && !texts) texts = new Map(rows.map((row) => [row, searchable(row)]));
      let shown = 0;
      for (const row of rows) {
        const fits = (!chosen || row.dataset.group === chosen) && (!wanted || texts.get(row).includes(wanted));
        row.hidden = !fits;
        shown += fits;
      }
      status.textContent = `${shown} of ${rows.length} shown`;
    };
    if (text) text.addEventListener("input", apply);
    if (group) group.addEventListener("change", apply);
    apply();
  };

  // A player is made when it is asked for: thousands of them would make the page slow.
  const play = (button) => {
    const source = document.getElementById(button.dataset.audio);
    const player = document.createElement("audio");
    player.controls = true;
    player.preload = "metadata";
    player.setAttribute("aria-label", button.getAttribute("aria-label"));
    player.src = `data:${source.dataset.type};base64,${source.textContent}`;
    button.replaceWith(player);
    player.focus();
    player.play().catch(() => {}); // a browser may want a second press
  };

  // A picture of a recording follows it: each of its rows has a line for its own part of the time.
  const cursors = Array.from(document.querySelectorAll("line[data-from]"));
  const point = (player) => {
    for (const line of cursors) {
      const { from, to, length } = line.dataset;
      const share = (player.currentTime - from) / (to - from);
      const here = share >= 0 && share < 1;
      line.classList.toggle("on", here);
      if (here) line.setAttribute("transform", `translate(${share * length})`);
    }
  };
  const follow = (player) => {
    point(player);
    if (!player.paused) requestAnimationFrame(() => follow(player));
  };

  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  document.querySelectorAll(".tools[data-for]").forEach(makeFilter);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.play");
    if (button) play(button);
  });
  document.addEventListener("play", (event) => {
    for (const other of document.querySelectorAll("audio")) if (other !== event.target) other.pause();
  }, true);
  if (cursors.length) {
    document.addEventListener("play", (event) => follow(event.target), true);
    document.addEventListener("seeked", (event) => point(event.target), true);
  }
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.language")) part.open = true;
  });
})();
