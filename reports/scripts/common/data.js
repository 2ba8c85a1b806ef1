// What a page works on: JSON, deflated, as its records say much again, and in letters of base64.

import { make, scroller } from "./dom.js";

const TOO_OLD = "This page is static in this browser. Interactive changes need Chrome 110, Firefox 115, Safari 16.4 or newer.";

// Where that is done, the page follows.
export async function withData(begin) {
  const place = document.getElementById("model");
  if (!globalThis.DecompressionStream) {
    document.querySelector("main").prepend(make("p", { role: "alert" }, TOO_OLD));
    return;
  }
  const packed = Uint8Array.from(atob(place.textContent), (letter) => letter.charCodeAt(0));
  const text = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(text).json();
  // What is deflated ends in a checksum of it (Adler-32, RFC 1950): it tells versions of a page apart.
  await begin({ ...data, checksum: new DataView(packed.buffer).getUint32(packed.length - 4).toString(36) });
  place.textContent = ""; // it is as large as the data, and not needed again
  document.querySelectorAll(".scroll").forEach(scroller);
}
