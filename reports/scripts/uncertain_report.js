// The page of a report of which numbers are not known.

import { withData } from "./common/data.js";
import { App } from "./live/report_app.js";
import { Uncertainty } from "./live/panels/uncertainty.js";

withData((data) => {
  globalThis.qps = new App(data, Uncertainty);
  return globalThis.qps.started;
});
