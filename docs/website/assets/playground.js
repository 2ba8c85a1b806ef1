// The playground is large: it is loaded into the home page only when its picture is clicked. A page that was opened as a file
// cannot run it, and leads to it instead.
for (const link of document.querySelectorAll('.playground a[href*="playground/index.html"]')) {
  link.addEventListener("click", (event) => {
    if (location.protocol === "file:") return;
    event.preventDefault();
    const frame = document.createElement("iframe");
    frame.src = link.href;
    frame.title = "QPS playground";
    link.replaceWith(frame);
    frame.focus();
  });
}
