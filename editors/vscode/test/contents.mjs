// Whether a .vsix holds what its package.json names: `vsce` packs without a word what is missing.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { posix } from "node:path";

const { open } = createRequire(import.meta.url)("yauzl");

const listed = (path) =>
  new Promise((resolve, reject) => {
    open(path, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      const names = new Map();
      zip.on("entry", (entry) => {
        names.set(entry.fileName, entry.uncompressedSize);
        zip.readEntry();
      });
      zip.on("end", () => resolve(names));
      zip.on("error", reject);
      return zip.readEntry();
    });
  });

const { contributes, main } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const needed = [
  main,
  "package.json",
  "readme.md",
  "LICENSE.txt",
  ...contributes.languages.map((one) => one.configuration),
  ...contributes.grammars.map((one) => one.path),
  ...contributes.snippets.map((one) => one.path),
].map((name) => posix.join("extension", name));

const names = await listed(process.argv[2]);
const missing = needed.filter((name) => !(names.get(name) > 0));
const strange = [...names.keys()].filter((name) => /node_modules|\/src\/|\/test\//.test(name));
if (missing.length || strange.length) {
  console.error(`${process.argv[2]} lacks: ${missing.join(", ") || "nothing"}; should not have: ${strange.join(", ") || "nothing"}`);
  process.exit(1);
}
console.log(`${process.argv[2]}: ${names.size} files, nothing missing`);
