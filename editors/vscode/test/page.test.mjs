import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { follow } from "../src/following.mjs";
import { frameOf } from "../src/frame.mjs";

const served = (what) =>
  new Promise((resolve) => {
    const server = createServer((asked, answer) => {
      if (asked.url === "/state") answer.end(JSON.stringify({ version: what.version, wrong: what.wrong }));
      else if (asked.url === "/page") answer.end(what.page);
      else answer.writeHead(404).end();
    });
    server.listen(0, "127.0.0.1", () => resolve({ server, address: `http://127.0.0.1:${server.address().port}/` }));
  });

test("the view loads nothing, and shows a name as it is, whatever is in it", () => {
  const text = frameOf('"><script>');
  assert.match(text, /default-src 'none';/);
  assert.doesNotMatch(text, /https?:/);
  assert.equal(text.match(/<script>/g).length, 1);
});

// What `follow` reports: after each report, the next of `steps` is done; it ends with the last.
async function followed(steps, find) {
  const reports = [];
  await follow({
    find,
    report: (one) => {
      reports.push(one);
      steps[reports.length - 1]?.();
    },
    goesOn: () => reports.length <= steps.length,
    between: 1,
  });
  return reports;
}

test("each new page is reported once, what is wrong as it changes, and a server that has gone is looked for again", async () => {
  const what = { version: 1, page: "one", wrong: "" };
  const first = await served(what), second = await served({ version: 1, page: "three", wrong: "" });
  let found = 0;
  const reports = await followed(
    [
      () => {}, // the page
      () => Object.assign(what, { wrong: "no such name" }),
      () => Object.assign(what, { version: 2, page: "two", wrong: "" }),
      () => {}, // the page
      () => {
        first.server.close();
        first.server.closeAllConnections();
      },
      () => {}, // gone
      () => {}, // the other's page
    ],
    () => [first.address, null, second.address][Math.min(found++, 2)],
  );
  second.server.close();
  second.server.closeAllConnections();
  assert.deepEqual(
    reports.map((one) => one.page ?? one.wrong.split(":")[0]),
    ["one", "", "no such name", "two", "", "The file is closed or the language server has stopped. This report no longer updates.", "three", ""],
  );
});
