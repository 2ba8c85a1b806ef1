// A picture as a file: as lines, as points, as the numbers behind it.

import { make } from "./dom.js";
import { downloadBlob, downloadText } from "./downloads.js";

const FINENESS = 2; // points of a file for each one of the page

// The buttons below a picture. `standing()` gives it as SVG with nothing to load, `csv()` its numbers.
export function savers(key, standing, csv = null) {
  const one = (kind, run) => make("button", { type: "button", class: "quiet", "aria-label": `Download as ${kind}`, on: { click: run } }, kind);
  return make("span", { class: "soft saved" }, "Download as",
    one("SVG", () => downloadText(`${key}.svg`, "image/svg+xml", standing())),
    one("PNG", ({ target }) => downloadPoints(`${key}.png`, standing()).catch(() => target.replaceWith("PNG not supported by this browser"))),
    csv && one("CSV", () => downloadText(`${key}.csv`, "text/csv", csv())));
}

// The content policy lets pictures come from `data:` alone, which asks nobody for anything.
async function downloadPoints(name, svg) {
  const image = make("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  await image.decode();
  const canvas = make("canvas", { width: FINENESS * image.naturalWidth, height: FINENESS * image.naturalHeight });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  downloadBlob(name, await new Promise((done) => { canvas.toBlob(done); }));
}
