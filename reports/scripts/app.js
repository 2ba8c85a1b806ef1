// The page of a report.

import { withData } from "./common/data.js";
import { App } from "./live/report_app.js";

withData((data) => {
  globalThis.qps = new App(data);
  return globalThis.qps.started;
});
