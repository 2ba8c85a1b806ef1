// The page of a report of which numbers are not known.

import { App } from "./live/app.js";
import { Sure } from "./live/sure.js";

globalThis.qps = new App(JSON.parse(document.getElementById("model").textContent), Sure);
