// Driver: how long do the peers in Node take for the answers of a row?
//
// In: `peers.mjs CORPUS MILLISECONDS ROW...`, in a folder that has the packages of `package.json`.
// Out: lines of `row TAB engine TAB µs per 4 KB`.
// Never: compares figures; the script `run` does.
import fs from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { jsonrepair } from 'jsonrepair';
import { z } from 'zod';

const [corpus, milliseconds, ...rows] = process.argv.slice(2);

// A string is copied out of the file, so that it is as flat as one that came from a network.
const answers = (row) => {
  const text = fs.readFileSync(path.join(corpus, `${row}.txt`), 'utf8');
  return text.split('\x1e').map((answer) => Buffer.from(answer).toString());
};

let sink = 0;

// How many milliseconds a part of a pass should take.
const PART = 2;

// How long these answers take. The smaller of two clocks counts: the time that passed is too long where others use the
// machine, the time of processors where the collector has threads of its own.
function timed(texts, read) {
  const wall = performance.now();
  const processor = process.cpuUsage();
  for (const text of texts) {
    try {
      sink += read(text) ? 1 : 0;
    } catch {
      sink += 1;
    }
  }
  const passed = performance.now() - wall;
  const { user, system } = process.cpuUsage(processor);
  return Math.min(passed, (user + system) / 1e3);
}

// Some passes before the clock starts let the compiler of the runtime do its work; then passes for the time given, measured
// in parts of some milliseconds. The fastest time of each part counts, so that what else the machine does meanwhile is not
// charged to the reader: seldom is a longer time undisturbed.
function measure(row, engine, read) {
  if (!rows.includes(row)) return;
  const texts = answers(row);
  for (let warm = 0; warm < 3; warm++) timed(texts, read);
  const length = Math.max(1, Math.round(texts.length * Math.min(1, PART / timed(texts, read))));
  const parts = [];
  for (let start = 0; start < texts.length; start += length) parts.push(texts.slice(start, start + length));
  const best = parts.map(() => Infinity);
  const begin = performance.now();
  do parts.forEach((part, n) => (best[n] = Math.min(best[n], timed(part, read))));
  while (performance.now() - begin < Number(milliseconds));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const pass = best.reduce((sum, time) => sum + time);
  console.log(`${row}\t${engine}\t${((pass * 1e3 * 4096) / bytes).toFixed(4)}`);
}

// The schemas of the actions of the pack `couple-ai`, and of an answer of `dce` that is one object.
const ACTIONS = {
  ACTION_INGEST_DOC: z.object({
    docId: z.string(),
    title: z.string(),
    summary: z.string(),
    totalChapters: z.number().int().min(0),
    writingStyle: z.string(),
    authorHabits: z.array(z.string()).min(1),
    lastAnalyzedChapter: z.number(),
    sections: z.array(z.object({ id: z.string(), title: z.string(), summary: z.string().optional() })).optional(),
    sourceUrl: z.url().optional(),
  }),
  ACTION_CREATE_CRITIQUE_PAGE: z.object({
    page: z.object({ title: z.string(), content: z.string() }),
    profileId: z.string().optional(),
  }),
  ACTION_PREPARE_PUBLICATION: z.object({
    platform: z.string(),
    storyUrl: z.url(),
    chapterTitle: z.string(),
    contentSourcePageId: z.string(),
    profileId: z.string().optional(),
  }),
};
const Cycle = z.object({
  summary: z.string(),
  course_of_action: z.array(z.object({ step: z.number().int(), description: z.string() })),
  files_updated: z.array(z.string()).optional(),
  curator_activity: z.string().nullish(),
  files: z.array(z.object({ path: z.string(), content: z.string() })),
});

// Where the object that begins at `start` ends; -1 if it does not.
function objectEnd(text, start) {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (quoted) {
      if (unit === 92) at++;
      else if (unit === 34) quoted = false;
    } else if (unit === 34) quoted = true;
    else if (unit === 123) depth++;
    else if (unit === 125 && --depth === 0) return at + 1;
  }
  return -1;
}

// The calls `[ACTION]{json}` of an answer whose payloads fit.
function brackets(text) {
  const calls = [];
  const opener = /\[(ACTION_[A-Z_]+)\]\s*\{/g;
  for (let match; (match = opener.exec(text)); ) {
    const start = opener.lastIndex - 1;
    const end = objectEnd(text, start);
    if (end < 0) continue;
    try {
      const read = ACTIONS[match[1]]?.safeParse(JSON.parse(text.slice(start, end)));
      if (read?.success) calls.push(read.data);
    } catch {
      // What is not JSON is no call.
    }
    opener.lastIndex = end;
  }
  return calls;
}

// The blocks and calls of an answer in tags, by the expressions of `python/readers.py`.
function tags(text) {
  const thinking = /<thinking>([\s\S]*?)<\/thinking>/.exec(text)?.[1].trim();
  const message = (/<message>([\s\S]*?)<\/message>/.exec(text)?.[1] ?? text).trim();
  const actions = [];
  for (const [, type, content] of text.matchAll(/<action type="(\w+)">([\s\S]*?)<\/action>/g)) {
    const params = {};
    for (const [, key, written] of content.matchAll(/<(\w+)>([\s\S]*?)<\/\1>/g)) {
      let value = written.trim();
      if (value.startsWith('[') && value.endsWith(']')) {
        try {
          value = JSON.parse(value);
        } catch {
          // It stays the text that it is.
        }
      }
      params[key] = value;
    }
    actions.push({ type, params });
  }
  const updates = [];
  for (const [, target, content] of text.matchAll(/<content_update target="([^"]+)">([\s\S]*?)<\/content_update>/g)) {
    updates.push({ target, content: content.trim() });
  }
  return { thinking, message, actions, updates };
}

measure('brackets', 'node JSON, zod', brackets);
measure('tags-fit', 'node re', tags);
measure('tags-unfit', 'node re', tags);
measure('json-valid', 'node JSON', (text) => JSON.parse(text));
measure('json-valid', 'node JSON, zod', (text) => Cycle.safeParse(JSON.parse(text)));
measure('json-broken', 'jsonrepair', (text) => JSON.parse(jsonrepair(text)));
measure('json-broken', 'jsonrepair, zod', (text) => Cycle.safeParse(JSON.parse(jsonrepair(text))));
