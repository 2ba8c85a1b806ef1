import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { program, wrongWith } from "../src/program.mjs";

const root = mkdtempSync(join(tmpdir(), "qps-"));
const [one, two] = ["one", "two"].map((name) => join(root, name));
const own = join(two, ".venv", ...(process.platform === "win32" ? ["Scripts", "qps.exe"] : ["bin", "qps"]));
mkdirSync(join(own, ".."), { recursive: true });
mkdirSync(one);
writeFileSync(own, "#!/bin/sh\necho 'needs pygls' >&2\nexit 2\n");
chmodSync(own, 0o755);

for (const [what, given, expected] of [
  ["the first folder that has one", { configured: "", folders: [one, two], isTrusted: true }, own],
  ["that which is found where none has", { configured: "", folders: [one], isTrusted: true }, "qps"],
  ["none of a folder that is not trusted", { configured: "", folders: [two], isTrusted: false }, "qps"],
  ["the configured one, of the first folder", { configured: "bin/qps", folders: [one, two], isTrusted: true }, join(one, "bin/qps")],
  ["a configured name", { configured: " qps2 ", folders: [one], isTrusted: true }, "qps2"],
  ["a configured whole path", { configured: own, folders: [one], isTrusted: true }, own],
]) {
  test(`which program: ${what}`, () => assert.equal(program(given), expected));
}

test("a program that is not there, and one without a language server, are told apart", async () => {
  assert.match(await wrongWith(join(root, "none")), /program .* not found. Install it \(pip install/);
  if (process.platform !== "win32") assert.match(await wrongWith(own), /has no language server \(needs pygls\)/);
});
