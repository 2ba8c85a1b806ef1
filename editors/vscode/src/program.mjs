// Which `qps` is started, and what is wrong with it.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, isAbsolute } from "node:path";

export const INSTALL = "pip install '.[lsp]' in a checkout of QPS";
const OWN = process.platform === "win32" ? [".venv", "Scripts", "qps.exe"] : [".venv", "bin", "qps"];

// The program that is `told`, that of the first of the folders whose `.venv` has one, or that which is found.
// A folder that is not trusted starts none of its own.
export function program({ configured, folders, isTrusted }) {
  const named = configured.trim();
  if (named) return isAbsolute(named) || !/[/\\]/.test(named) || !folders.length ? named : join(folders[0], named);
  const own = isTrusted ? folders.map((folder) => join(folder, ...OWN)).find((path) => existsSync(path)) : undefined;
  return own ?? "qps";
}

// What is wrong with the program, null where it has a language server.
export function wrongWith(command) {
  return new Promise((resolve) => {
    execFile(command, ["lsp", "--help"], { timeout: 30_000 }, (error, _, output) => {
      if (!error) resolve(null);
      else if (error.code === "ENOENT") resolve(`QPS: program “${command}” not found. Install it (${INSTALL}) or set its path.`);
      else if (error.killed) resolve(`QPS: “${command} lsp” does not respond.`);
      else resolve(`QPS: “${command}” has no language server (${(output || error.message).trim().split("\n").at(-1)}). To add it: ${INSTALL}.`);
    });
  });
}
