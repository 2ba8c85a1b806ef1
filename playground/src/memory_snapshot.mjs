// Starts Python as the browser does, lets it answer once, and keeps its memory: `node memory_snapshot.mjs FOLDER`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { loadPyodide } from "pyodide";
import createModule from "pyodide/pyodide.asm.mjs";

import { memoryOf, started } from "./startup.js";

const [folder] = process.argv.slice(2);
const LARGEST = 1 << 16; // bytes of a piece of free memory
const SMALLEST = 1 << 6;

const files = {
  loadPyodide,
  createModule: () => createModule,
  libraries: new Uint8Array(gunzipSync(readFileSync(join(folder, "libraries.bin")))),
  archive: readFileSync(join(folder, "python.zip")),
};

// What is free still says what once was there: as zeros it takes no room in a file.
function clean(module) {
  const pieces = [];
  let top = module._sbrk(0);
  for (let size = LARGEST; size >= SMALLEST; size /= 2) {
    let before;
    do {
      before = top;
      const piece = module._malloc(size);
      module.HEAPU8.fill(0, piece, piece + size);
      pieces.push(piece);
      top = module._sbrk(0);
    } while (top === before);
  }
  for (const piece of pieces) module._free(piece);
}

const first = await started({ ...files, _makeSnapshot: true });
const functions = first._module.wasmTable.length;
first.runPython("import editor_bridge; editor_bridge.rehearse()");
if (first._module.wasmTable.length !== functions)
  throw new Error("a library was loaded that was not linked before Python began: its functions would not be there again");
clean(first._module);
const memory = memoryOf(first);
writeFileSync(join(folder, "memory.bin"), gzipSync(memory));

const again = await started({ ...files, memory });
again.runPython("import editor_bridge; editor_bridge.rehearse()");
