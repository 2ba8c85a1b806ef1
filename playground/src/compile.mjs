// Compiles the Python files of a folder with the very Python that will run them in the browser.
import { loadPyodide } from "pyodide";

const [folder] = process.argv.slice(2);
const python = await loadPyodide();
python.FS.mkdirTree("/made");
python.mountNodeFS("/made", folder);
const failed = python.runPython(`
from compileall import compile_dir
from py_compile import PycInvalidationMode
not compile_dir("/made", quiet=1, legacy=True, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
`);
process.exit(failed ? 1 : 0);
