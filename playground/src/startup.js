// Starts Python with QPS in it: from its memory as it was once all was imported, or from nothing (the build, and a browser
// that cannot take the memory).
//
// Libraries (the parts of packages that are not Python) are linked before Python begins, in one order: so what the memory
// says of them is true again. They have names and no files; Python's modules stay in their archive.
const ARCHIVE = "/python.zip";
const ROUNDED = 16; // bytes
const PLACES = 1 << 14; // the table of functions is filled up to a multiple before libraries are linked

// Names and lengths as a line of JSON, then the bytes of one after another.
function unpacked(bytes) {
  const head = bytes.indexOf(10);
  const names = JSON.parse(new TextDecoder().decode(bytes.subarray(0, head)));
  let end = head + 1;
  return names.map(([name, length]) => [name, bytes.subarray(end, (end += length))]);
}

async function compiled(libraries) {
  const parts = unpacked(await libraries);
  return Promise.all(parts.map(async ([name, code]) => [name, await WebAssembly.compile(code)]));
}

function link(module, libraries) {
  const table = module.wasmTable; // some browsers have put something more in it by now than others
  table.grow(PLACES - (table.length % PLACES));
  libraries.forEach(([name, code], number) => {
    // What one asks of a later one is looked for when all are there.
    const options = { global: true, nodelete: true, allowUndefined: number < libraries.length - 1 };
    const found = module.loadWebAssemblyModule(code, options, name);
    module.preloadedWasm[name] = found;
    module.loadDynamicLibrary(name, options);
    // Python asks for these by name, later: each has its place in the table of functions already.
    for (const symbol in found) if (symbol.startsWith("PyInit_")) module.addFunction(found[symbol]);
  });
}

// Where Python keeps which function calls others whose arguments are not those expected: what there is, the browser decides.
function caller(module) {
  const start = module.__PyRuntime;
  return (start + module.HEAP32[module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET >>> 2]) >>> 2;
}

// Libraries, archive and memory may be on their way still; without a memory, the bridge is imported. Returns Python and the bridge.
export async function started({ loadPyodide, createModule, libraries, archive, memory, ...options }) {
  const code = compiled(libraries);
  let calling;
  const python = await loadPyodide({
    ...options,
    _loadSnapshot: memory,
    createPyodideModule: async (settings) => {
      const [create, linking, picture] = await Promise.all([createModule(), code, memory]);
      settings.preRun.push((module) => link(module, linking));
      const module = await create(settings);
      calling = module.HEAP32[caller(module)];
      if (picture !== undefined && picture.length > module.HEAP8.length) module.growMemory(picture.length);
      return module;
    },
  });
  python._module.HEAP32[caller(python._module)] = calling;
  python.FS.writeFile(ARCHIVE, new Uint8Array(await archive));
  if (memory === undefined) {
    const names = JSON.stringify((await code).map(([name]) => name));
    python.runPython(`
import sys
sys.path.insert(0, "${ARCHIVE}")
import libraries
libraries.known(${names})
del libraries
`);
  }
  return python;
}

// The memory of a Python that is not used any more, up to the last byte that is not zero.
export function memoryOf(python) {
  python._module.HEAP32[caller(python._module)] = 0;
  const whole = python.makeMemorySnapshot();
  let end = whole.length;
  while (whole[end - 1] === 0) end -= 1;
  return whole.slice(0, Math.ceil(end / ROUNDED) * ROUNDED);
}
