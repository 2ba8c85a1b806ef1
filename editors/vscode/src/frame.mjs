// The view's own page: it shows the pages that it is handed, each in the place of the one before, and loads nothing.

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

// A page stands in a frame of its own, which takes over what was moved (it is in the address) and how far one had read.
function show() {
  const wrong = document.getElementById("wrong");
  let shown = null, coming = null;
  const take = (text) => {
    coming?.remove();
    const frame = document.createElement("iframe"), address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    const hash = shown?.contentWindow.location.hash ?? "";
    frame.title = document.title;
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-downloads allow-popups");
    frame.className = "coming";
    frame.addEventListener("load", () => {
      URL.revokeObjectURL(address);
      if (frame !== coming) return;
      coming = null;
      const { scrollX, scrollY } = shown?.contentWindow ?? { scrollX: 0, scrollY: 0 };
      frame.className = "";
      shown?.remove();
      shown = frame;
      const until = Date.now() + 2000, inner = frame.contentWindow;
      const scroll = () => {
        inner.scrollTo(scrollX, scrollY);
        if (Math.abs(inner.scrollY - scrollY) > 1 && Date.now() < until) requestAnimationFrame(scroll); // it is still being drawn
      };
      scroll();
    });
    frame.src = address + hash;
    coming = frame;
    document.body.append(frame);
  };
  window.addEventListener("message", ({ data }) => {
    if (typeof data?.page === "string") take(data.page);
    document.getElementById("waiting")?.remove();
    if (typeof data?.wrong === "string") {
      wrong.textContent = data.wrong;
      wrong.hidden = !data.wrong;
    }
  });
  acquireVsCodeApi().postMessage("ready");
}

// What a page within may load is what this one may: its own script and style, which its own policy names by their sums.
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-src blob:; base-uri 'none'; form-action 'none'";

export function frameOf(name) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<style>
html, body { margin: 0; padding: 0; height: 100% }
body { display: flex; flex-direction: column; position: relative; background: white }
iframe { flex: 1; border: 0; width: 100%; min-height: 0; background: white }
.coming { position: absolute; inset: 0; height: 100%; visibility: hidden }
#wrong { margin: 0; padding: 0.6em 1em; max-height: 40%; overflow: auto; background: #fdecea; color: #611a15; white-space: pre-wrap;
  font: 13px/1.4 ui-monospace, monospace }
#waiting { padding: 0 1em; font: 14px/1.4 system-ui, sans-serif; color: #555 }
#wrong[hidden] { display: none }
</style>
<title>Live report of ${escaped(name)}</title>
</head>
<body><pre id="wrong" role="alert" hidden></pre><p id="waiting">Loading report …</p><script>(${show})()</script></body>
</html>`;
}
