// The frame of the live page: what the playground sends it becomes its document, and what that tells of how sure its answer
// is goes back, with the number of its text. Any page may frame this one and send it anything, so it works only where its
// origin is opaque (`sandbox` without `allow-same-origin`): what is written there reaches nothing of this address.
// `self.origin` is that origin; `location.origin` would be that of the address, in a sandbox, too.
if (self.origin === "null") {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || typeof data?.html !== "string") return;
    document.open(); // nobody listens any more
    addEventListener("uncertainty", ({ detail }) => parent.postMessage({ number: data.number, uncertainty: detail }, "*"));
    document.write(data.html);
    document.close();
  });
  parent.postMessage("ready", "*");
} else {
  addEventListener("DOMContentLoaded", () => {
    document.body.textContent = "This page is a part of the playground and shows nothing by itself.";
  });
}
