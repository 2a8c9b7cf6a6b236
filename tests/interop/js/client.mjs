/** The client of the contract, on the SDK's own client: `node client.mjs URL BINDING`. */

import { cases } from './client/cases.mjs';
import { describe } from './client/expect.mjs';
import { BINDINGS, Peer } from './client/peer.mjs';

const CASE_LIMIT_MS = 20 * 1000;
const PROGRAM_LIMIT_MS = 5 * 60 * 1000;
const DETAIL_LENGTH = 300;

/** Writes a line and waits until it has been taken. */
function print(line) {
  return new Promise((resolve) => {
    process.stdout.write(`${JSON.stringify(line)}\n`, resolve);
  });
}

/**
 * Runs something within the limit of a case; what it still waits for then is ended.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function limited(work) {
  const limit = new AbortController();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('not done within 20 s')), CASE_LIMIT_MS);
  });
  try {
    return await Promise.race([work(limit.signal), late]);
  } finally {
    clearTimeout(timer);
    limit.abort();
  }
}

async function outcome(run) {
  try {
    await limited(run);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: describe(error).slice(0, DETAIL_LENGTH) };
  }
}

const [url, binding] = process.argv.slice(2);
if (!url || !BINDINGS.includes(binding)) {
  process.stderr.write(`usage: node client.mjs URL ${BINDINGS.join('|')}\n`);
  process.exit(2);
}
setTimeout(() => process.exit(1), PROGRAM_LIMIT_MS).unref();

// What a case left behind may still fail when its calls are ended, and must not end the cases after it.
process.on('unhandledRejection', (error) => process.stderr.write(`left behind: ${describe(error)}\n`));

let connected;
for (const [name, run] of cases()) {
  const result = await outcome(async (signal) => {
    connected ??= await Peer.connect(url, binding, signal);
    await run(connected.during(signal));
  });
  await print({ case: name, ...result });
}
await print({ done: true });
process.exit(0);
