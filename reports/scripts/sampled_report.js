// The page of a report of which numbers are not known, and no sample was drawn when it was written.

import { withData } from "./common/data.js";
import { App } from "./live/report_app.js";
import { Drawn } from "./live/panels/uncertainty_summary.js";

withData((data) => {
  globalThis.qps = new App(data, Drawn);
  return globalThis.qps.started;
});
