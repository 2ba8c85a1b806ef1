// What a page does for a print of its own.

const PAPER = 620; // px: what is between the margins of A4, and a little less

// A formula has no place to break: on paper a wide one is as small as it takes.
export function fitFormulas() {
  const wide = [...document.querySelectorAll(".fold[open] .scroll > math")].map((one) => [one, PAPER / one.parentElement.scrollWidth]);
  for (const [one, part] of wide) if (part < 1) one.style.setProperty("--part", part);
}
