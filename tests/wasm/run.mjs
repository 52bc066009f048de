// WebAssembly under Node: are the outcomes of a suite as expected?
// In: the module, the suite, the expected outcomes. Out: exit code 0 if they are equal, byte for byte.

import { readFileSync } from "node:fs";

const [module, suite, expected] = process.argv.slice(2).map((path) => readFileSync(path));
const { exports } = (await WebAssembly.instantiate(module, {})).instance;
const room = exports.room(suite.length) >>> 0;
new Uint8Array(exports.memory.buffer).set(suite, room);
const started = performance.now();
const found = BigInt.asUintN(64, exports.outcomes(room, suite.length));
const taken = Math.round(performance.now() - started);
const outcomes = Buffer.from(exports.memory.buffer, Number(found >> 32n), Number(found & 0xffffffffn));
if (!outcomes.equals(expected)) {
  const [here, there] = [outcomes, expected].map((text) => text.toString().split("\n"));
  const line = here.findIndex((line, number) => line !== there[number]);
  console.error(`line ${line + 1} differs\nWebAssembly: ${here[line]}\nnative: ${there[line]}`);
  process.exit(1);
}
console.log(`${outcomes.toString().split("\n").length - 1} lines of outcomes are as in a native build (${taken} ms)`);
