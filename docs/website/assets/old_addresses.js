// An anchor that has moved stands before the link that leads to its new place: follow it.
const mark = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (mark?.tagName === "A" && !mark.href) {
  const link = mark.closest("li, td, p")?.querySelector("a[href]:not(.headerlink)");
  if (link) location.replace(link.href);
}
