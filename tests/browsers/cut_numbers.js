// What is cut off where nothing says so: a text beyond its picture, a table or an answer wider than its place, and
// a bar that leaves no room for the page.
() => {
  const found = [];
  for (const text of document.querySelectorAll("figure:not([hidden]) svg.chart text")) {
    const svg = text.ownerSVGElement.getBoundingClientRect(), own = text.getBoundingClientRect();
    const isOut = own.left < svg.left - 3 || own.right > svg.right + 3 || own.bottom > svg.bottom + 3;
    if (own.width && isOut) found.push(`${text.closest("figure").id}: ${text.textContent}`);
  }
  const places = ".cards .scroll, .cards.scroll, #decision, #controls .bar, #small-answer";
  for (const one of document.querySelectorAll(places)) {
    const isWide = one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1;
    if (isWide) found.push(`${one.closest("[id]").id}: ${one.scrollWidth} of ${one.clientWidth}`);
  }
  const bar = document.querySelector("#controls .bar");
  const isFixed = getComputedStyle(bar).position === "fixed";
  if (isFixed && bar.offsetHeight > innerHeight / 5) found.push(`the bar takes ${bar.offsetHeight}`);
  return found;
}
