// The frame of the live page, an origin of its own: what the playground sends it becomes its document.
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data !== "string") return;
  document.open();
  document.write(data);
  document.close();
});
parent.postMessage("ready", "*");
