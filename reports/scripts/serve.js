// The frame around a page that is made anew after each save: it asks what the latest version is, and
// shows what is wrong with the spec above the last page that could be made.

const page = document.getElementById("page");
const wrong = document.getElementById("wrong");
let shown = Number(document.body.dataset.version);

const show = (state) => {
  wrong.textContent = state.wrong;
  wrong.hidden = !state.wrong;
  if (state.version !== shown) {
    shown = state.version;
    // What was moved stays where it is told in the address.
    page.contentWindow.location.reload();
  }
};

const ask = async () => {
  try {
    const answer = await fetch("/state", { cache: "no-store" });
    show(await answer.json());
  } catch {
    wrong.textContent = "qps serve has stopped. This page no longer updates.";
    wrong.hidden = false;
  }
  setTimeout(ask, 400);
};

ask();
