// Perfetto's trace processor, as its viewer has it: compiled to WebAssembly. Reads a trace and prints what queries give.
//
//   node trace_processor.mjs FOLDER TRACE SQL…
//
// FOLDER has `engine_bundle.js` and `trace_processor.wasm` of a build of the viewer. For each query there are lines of a JSON array
// each, and an empty one between two queries: the names of the columns, then rows of texts. Messages are those of `protos/perfetto/trace_processor/trace_processor.proto`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [APPEND, FINALIZE, QUERY] = [1, 2, 3];
const [folder, trace, ...queries] = process.argv.slice(2);

// --- Messages

const varint = (value) => {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 | 0x80);
  return Buffer.from([...bytes, value]);
};
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, content) => Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);

function* fields(buffer) {
  let at = 0;
  const next = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < buffer.length) {
    const tag = Number(next());
    const take = (count) => buffer.subarray(at, (at += count));
    const kind = tag & 7;
    yield [tag >> 3, kind === 0 ? next() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(next()))];
  }
}
const all = (buffer, field) => [...fields(buffer)].filter(([number]) => number === field).map(([, value]) => value);
const varints = (buffers) => buffers.flatMap((buffer) => {
  // Packed, or one.
  if (typeof buffer === "bigint") return [buffer];
  return [...fields(Buffer.concat([...packed(buffer)]))].map(([, value]) => value);
});
function* packed(buffer) {
  let begin = 0;
  for (let at = 0; at < buffer.length; at++) {
    if (buffer[at] < 0x80) {
      yield Buffer.concat([varint(8), buffer.subarray(begin, at + 1)]);
      begin = at + 1;
    }
  }
}

// --- The engine: it takes messages from a port, and answers by it.

const wasm = readFileSync(join(folder, "trace_processor.wasm"));
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: "file:///engine_bundle.js" };
globalThis.importScripts = () => {};
// What it says of itself is not for who reads rows.
console.log = console.error;
// It reads its program at once.
globalThis.XMLHttpRequest = class {
  open() {}
  send() { this.response = wasm; }
};
// It is told apart from a browser's worker by this alone.
globalThis.process = undefined;
const { exit, stdout } = await import("node:process");

let heard = [];
const port = { onmessage: undefined, postMessage: (reply) => heard.push(Buffer.from(reply)) };
vm.runInThisContext(readFileSync(join(folder, "engine_bundle.js"), "utf8"));
globalThis.onmessage({ data: port });
// What it has promised itself is done by then.
await new Promise((done) => setTimeout(done, 0));

let sequence = 0;
const ask = (request, ...args) => {
  heard = [];
  sequence += 1;
  const rpc = Buffer.concat([number(1, sequence), number(2, request), ...args]);
  port.onmessage({ data: new Uint8Array(bytes(1, rpc)) });
  const replies = all(Buffer.concat(heard), 1);
  const fatal = replies.flatMap((reply) => all(reply, 5));
  if (fatal.length) throw new Error(fatal[0].toString());
  return replies;
};

// --- The trace, and what is asked of it.

const content = readFileSync(trace);
for (let at = 0; at < content.length; at += 1 << 24) {
  for (const reply of ask(APPEND, bytes(101, content.subarray(at, at + (1 << 24))))) {
    const why = all(reply, 201).flatMap((result) => all(result, 2));
    if (why.length) throw new Error(why[0].toString());
  }
}
ask(FINALIZE);
for (const [nth, query] of queries.entries()) {
  const results = ask(QUERY, bytes(103, bytes(1, Buffer.from(query)))).flatMap((reply) => all(reply, 203));
  const why = results.flatMap((result) => all(result, 2));
  if (why.length) throw new Error(`${query}: ${why[0]}`);
  const names = results.flatMap((result) => all(result, 1)).map(String);
  const print = (row) => stdout.write(JSON.stringify(row) + "\n");
  if (nth) stdout.write("\n");
  print(names);
  for (const batch of results.flatMap((result) => all(result, 3))) {
    const numbers = varints(all(batch, 2)), texts = all(batch, 5).map(String).join("").split("\0");
    const floats = Buffer.concat(all(batch, 3).filter((value) => typeof value !== "bigint"));
    let float = 0;
    const cell = (kind) => {
      if (kind === 2) return String(BigInt.asIntN(64, numbers.shift()));
      if (kind === 3) return String(floats.readDoubleLE(8 * float++));
      return kind === 4 ? texts.shift() : "";
    };
    const cells = varints(all(batch, 1)).map((kind) => cell(Number(kind)));
    for (let at = 0; at < cells.length; at += names.length) print(cells.slice(at, at + names.length));
  }
}
exit(0);
