// All that a page shows, in the browser: with all that is folded open, and every picture drawn.
() => {
  const pictures = (globalThis.qps?.pictures ?? []);
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  globalThis.qps?.drawAll();
  for (const picture of pictures) if (!picture.place.hidden) picture.showTable();

  const seen = (one) => !one.closest("[hidden], script, style") && one.getClientRects().length > 0;
  const plain = (text) => text.replace(/[\u00a0\u2003]/g, " ").replace(/\s+/g, " ").trim();
  const placeOf = (one) => one.closest("[id]:not(tr, td, svg *)")?.id ?? "";
  const withoutTitle = (one) => [...one.childNodes]
    .filter((own) => own.nodeName !== "title").map((own) => own.textContent).join("");

  const cellOf = (cell) => {
    const own = cell.cloneNode(true), id = own.querySelector("code.id");
    const titled = cell.title || (own.querySelector("[title]")?.getAttribute("title") ?? "");
    for (const one of own.querySelectorAll("code.id, .light, button, .working")) one.remove();
    for (const one of own.querySelectorAll("br")) one.replaceWith(" ");
    const lights = [...cell.querySelectorAll(".light")].map((one) => plain(one.textContent));
    return { text: plain(own.textContent), name: id ? plain(id.textContent) : titled, lights };
  };
  const tables = [...document.querySelectorAll("main table")].filter(seen).map((one) => ({
    of: placeOf(one),
    head: [...one.tHead.rows[0].cells].map((cell) => plain(cell.textContent)),
    rows: [...one.tBodies[0].rows].map((row) => [...row.cells].map(cellOf)),
  }));

  const blocks = "p, li, dd, dt, figcaption, label, option, h1, h2, h3, text, summary, pre, math, "
    + ".of, .parts, .light, .soft, .conclusion, output, code.command, span.unit";
  const isInnermost = (one) => !one.closest("table") && seen(one) && !one.querySelector(blocks);
  const texts = [...document.querySelectorAll(blocks)].filter(isInnermost).map((one) => ({
    of: placeOf(one), kind: one.tagName.toLowerCase(),
    as: one.getAttribute("class") ?? "", text: plain(withoutTitle(one)),
  })).filter((one) => one.text);
  const ownText = (one) => plain([...one.childNodes].filter((own) => own.nodeType === Node.TEXT_NODE).map((own) => own.textContent).join(" "));
  texts.push(...[...document.querySelectorAll("summary")].filter((one) => seen(one) && !isInnermost(one) && ownText(one))
    .map((one) => ({ of: placeOf(one), kind: "summary", as: "", text: ownText(one) })));
  const fields = [...document.querySelectorAll("#controls input, #numbers input")]
    .filter((one) => seen(one) && one.type === "text")
    .map((one) => ({ of: one.id || one.ariaLabel, kind: "field", as: "", text: one.value }));

  const shown = pictures.filter((one) => !one.place.hidden && one.drawn);
  const readouts = shown.filter((one) => one.drawn.readout).flatMap(({ place, drawn: { readout } }) => {
    const told = Array.from({ length: readout.count }, (_, i) => plain(readout.describe(i)));
    readout.hide();
    return told.map((text) => ({ of: place.id, kind: "readout", as: "", text }));
  });
  const finite = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));
  const lines = shown.filter((one) => one.drawn.chart).flatMap(({ place, drawn: { chart: { x, series } } }) =>
    series.map(({ name, values }) => ({ of: place.id, name, at: [...x.values], values: finite(values) })));
  return { tables, texts: [...texts, ...fields, ...readouts], lines };
}
