// The page of a report.

import { App } from "./live/app.js";

globalThis.qps = new App(JSON.parse(document.getElementById("model").textContent));
