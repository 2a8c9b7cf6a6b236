import { CONTENT_CASES } from './cases/contents.mjs';
import { STREAM_CASES } from './cases/streams.mjs';
import { SURROUNDING_CASES } from './cases/surroundings.mjs';
import { TASK_CASES } from './cases/tasks.mjs';

/** The names of the cases in the order of the contract. */
const ORDER = `
  card card.extended
  echo.unary echo.stream stream.unary stream.chunks stream.live
  send.immediate
  subscribe.after_cut subscribe.finished subscribe.unknown
  cancel.running cancel.finished cancel.unknown
  get get.unknown get.history
  list.paging list.filter list.artifacts list.page_size
  input.unary input.stream auth.unary
  ending.fail ending.raise ending.reject
  error.no_parts error.finished error.unknown_task error.stream
  parts.file parts.data parts.echo parts.unicode parts.empty_text
  parts.big_reply parts.big_request parts.big_stream
  message.unary message.stream
  artifacts.many artifacts.appends
  meta.tenant meta.metadata meta.extensions
  version.unknown
  context.reuse
  push
`.trim().split(/\s+/);

/**
 * All cases, each with its name.
 *
 * @returns {Array<[string, (peer: import('./peer.mjs').Peer) => Promise<void>]>}
 */
export function cases() {
  const byName = { ...SURROUNDING_CASES, ...STREAM_CASES, ...TASK_CASES, ...CONTENT_CASES };
  const unordered = Object.keys(byName).filter((name) => !ORDER.includes(name));
  const missing = ORDER.filter((name) => !(name in byName));
  if (unordered.length > 0 || missing.length > 0) {
    throw new Error(`cases without a place: ${unordered}; places without a case: ${missing}`);
  }
  return ORDER.map((name) => [name, byName[name]]);
}
