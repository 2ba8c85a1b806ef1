// What the language server serves of a spec, asked for where the server runs: a browser, or an editor on another
// machine, does not reach its address.

import { get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const BETWEEN = 400;
const GONE = "The file is closed or the language server has stopped. This report no longer updates.";

export const read = (address) =>
  new Promise((resolve, reject) => {
    const request = get(address, { timeout: 10_000 }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(Buffer.concat(parts).toString("utf8"));
        else reject(new Error(`${address} answers ${answer.statusCode}`));
      });
    });
    request.on("timeout", () => request.destroy(new Error(`${address} does not answer`)));
    request.on("error", reject);
  });

// Tells `{page}` for each new page and `{wrong}` for what is wrong since, while it `goesOn`. Where the address answers no
// more, `find` is asked for another: null where there is none.
export async function follow({ find, report, goesOn, isSeen = () => true, between = BETWEEN }) {
  let address = null, version = null, wrong = null;
  const say = (text) => {
    if (text === wrong) return;
    wrong = text;
    report({ wrong });
  };
  while (goesOn()) {
    if (isSeen()) {
      try {
        if (address === null) {
          address = await find();
          version = null;
        }
        if (address === null) say(GONE);
        else {
          const state = JSON.parse(await read(new URL("state", address)));
          if (state.version !== version) {
            report({ page: await read(new URL("page", address)) });
            version = state.version;
          }
          say(state.wrong);
        }
      } catch {
        address = null;
        say(GONE);
      }
    }
    await pause(between);
  }
}
