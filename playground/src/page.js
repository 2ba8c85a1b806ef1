// The frame of the live page, an origin of its own: what the playground sends it becomes its document, and what that tells
// of how sure its answer is goes back, with the number of its text.
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  document.open(); // nobody listens any more
  addEventListener("odds", ({ detail }) => parent.postMessage({ number: data.number, odds: detail }, "*"));
  document.write(data.html);
  document.close();
});
parent.postMessage("ready", "*");
