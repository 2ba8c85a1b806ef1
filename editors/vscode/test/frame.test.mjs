import assert from "node:assert/strict";
import { test } from "node:test";

import { frameOf } from "../src/frame.mjs";

test("the view loads nothing but the page at its address", () => {
  const text = frameOf("http://127.0.0.1:4711/", "site.qps");
  assert.match(text, /default-src 'none'; frame-src http:\/\/127\.0\.0\.1:4711;/);
  assert.match(text, /<iframe src="http:\/\/127\.0\.0\.1:4711\/"/);
});

test("a name is shown as it is, whatever is in it", () => {
  assert.doesNotMatch(frameOf("http://127.0.0.1:1/", '"><script>'), /<script>/);
});
