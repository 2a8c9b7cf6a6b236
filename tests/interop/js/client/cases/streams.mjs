import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  areOfOneTask,
  artifactUpdates,
  collect,
  endsIn,
  failsWith,
  firstTask,
  onlyArtifact,
  stateOf,
  texts,
} from '../expect.mjs';

const ENDED = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];
const POLL_MS = 50;
const NUMBERS = Array.from({ length: 100 }, (_, chunk) => `${chunk} `).join('');

/** Whether an event is a chunk of `slow` with this text. */
function isChunk(event, text) {
  return artifactUpdates([event]).some((update) => texts(update.artifact).includes(text));
}

/** Reads events until one is the chunk. */
async function until(stream, text) {
  const events = [];
  for (;;) {
    const { value, done } = await stream.next();
    assert.ok(!done, `the stream ended before the chunk ${text}`);
    events.push(value);
    if (isChunk(value, text)) {
      return events;
    }
  }
}

/** Gets a task until it has ended, since a unary call gives no signal. The limit is that of the case. */
async function ended(peer, id) {
  for (;;) {
    const task = await peer.get(id);
    if (ENDED.includes(task.status?.state)) {
      return task;
    }
    await delay(POLL_MS, undefined, { signal: peer.signal });
  }
}

async function echoUnary(peer) {
  const task = await peer.completed('echo hello');
  assert.deepEqual(texts(onlyArtifact(task, 'echo')), ['hello']);
}

async function echoStream(peer) {
  const events = await collect(peer.stream('echo hello'));
  areOfOneTask(events);
  endsIn(events, TaskState.TASK_STATE_COMPLETED);
  const updates = artifactUpdates(events);
  assert.equal(updates.length, 1);
  assert.deepEqual(texts(updates[0].artifact), ['hello']);
}

async function streamUnary(peer) {
  const task = await peer.completed('stream 100');
  assert.equal(texts(onlyArtifact(task, 'stream')).join(''), NUMBERS);
}

async function streamChunks(peer) {
  const events = await collect(peer.stream('stream 100'));
  firstTask(events);
  areOfOneTask(events);
  endsIn(events, TaskState.TASK_STATE_COMPLETED);
  const updates = artifactUpdates(events);
  assert.equal(updates.flatMap((update) => texts(update.artifact)).join(''), NUMBERS);
  assert.equal(updates.length, 100);
  updates.forEach((update, index) => {
    assert.equal(update.append, index > 0, `append of chunk ${index}`);
    assert.equal(update.lastChunk, index === 99, `lastChunk of chunk ${index}`);
  });
}

async function streamLive(peer) {
  const key = randomUUID();
  const stream = peer.stream(`slow ${key}`);
  await until(stream, 'first');
  await peer.release(key);
  const rest = await collect(stream);
  assert.ok(rest.some((event) => isChunk(event, 'second')), 'the chunk second is missing');
  endsIn(rest, TaskState.TASK_STATE_COMPLETED);
}

async function sendImmediate(peer) {
  const key = randomUUID();
  const begun = await peer.task(`slow ${key}`, { returnImmediately: true });
  assert.ok(!ENDED.includes(begun.status?.state), 'the task has ended already');
  await peer.release(key);
  const task = await ended(peer, begun.id);
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal(texts(onlyArtifact(task, 'slow')).join(' '), 'first second');
}

async function subscribeAfterCut(peer) {
  const key = randomUUID();
  const cut = new AbortController();
  const { id } = firstTask(await until(peer.stream(`slow ${key}`, { signal: cut.signal }), 'first'));
  cut.abort();
  const stream = peer.subscribe(id);
  const { value: first } = await stream.next();
  const task = firstTask([first]);
  assert.equal(task.id, id);
  assert.deepEqual(texts(onlyArtifact(task, 'slow')), ['first']);
  await peer.release(key);
  const rest = await collect(stream);
  assert.ok(rest.some((event) => isChunk(event, 'second')), 'the chunk second is missing');
  endsIn(rest, TaskState.TASK_STATE_COMPLETED);
}

async function subscribeFinished(peer) {
  const { id } = await peer.completed('echo done');
  await failsWith(collect(peer.subscribe(id)), UnsupportedOperationError);
}

async function subscribeUnknown(peer) {
  await failsWith(collect(peer.subscribe(randomUUID())), TaskNotFoundError);
}

async function inputStream(peer) {
  const asked = await collect(peer.stream('ask'));
  endsIn(asked, TaskState.TASK_STATE_INPUT_REQUIRED);
  assert.equal(asked.at(-1).payload.value.status.message?.parts[0]?.content?.value, 'which?');
  const { id: taskId, contextId } = firstTask(asked);
  const answered = await collect(peer.stream('this one', { taskId, contextId }));
  endsIn(answered, TaskState.TASK_STATE_COMPLETED);
  const answers = artifactUpdates(answered).map(({ artifact }) => [artifact?.artifactId, ...texts(artifact)]);
  assert.deepEqual(answers, [['answer', 'this one']]);
}

async function messageStream(peer) {
  const events = await collect(peer.stream('message hi'));
  assert.equal(events.length, 1);
  assert.equal(events[0].payload?.$case, 'message');
  assert.equal(events[0].payload.value.parts[0]?.content?.value, 'hi');
  assert.equal(stateOf(events[0]), undefined);
}

async function bigStream(peer) {
  const events = await collect(peer.stream('big 5242880'));
  endsIn(events, TaskState.TASK_STATE_COMPLETED);
  const big = artifactUpdates(events).flatMap((update) => texts(update.artifact)).join('');
  assert.ok(big === 'x'.repeat(5242880), `${big.length} letters came`);
}

async function errorStream(peer) {
  await failsWith(collect(peer.stream('echo lost', { taskId: randomUUID() })), TaskNotFoundError);
}

export const STREAM_CASES = {
  'echo.unary': echoUnary,
  'echo.stream': echoStream,
  'stream.unary': streamUnary,
  'stream.chunks': streamChunks,
  'stream.live': streamLive,
  'send.immediate': sendImmediate,
  'subscribe.after_cut': subscribeAfterCut,
  'subscribe.finished': subscribeFinished,
  'subscribe.unknown': subscribeUnknown,
  'input.stream': inputStream,
  'error.stream': errorStream,
  'parts.big_stream': bigStream,
  'message.stream': messageStream,
};
