import { TaskState } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import assert from 'node:assert/strict';
import { firstText } from '../values.mjs';

/**
 * Expects a call to fail with one of the SDK's error types.
 *
 * Where an error arrives inside a stream of server-sent events, the SDK hands it on as the cause of a plain error.
 *
 * @param {Promise<unknown>} call
 * @param {...Function} types
 */
export async function failsWith(call, ...types) {
  const names = types.map((type) => type.name).join(' or ');
  try {
    await call;
  } catch (error) {
    if ([error, error.cause].some((thrown) => types.some((type) => thrown instanceof type))) {
      return;
    }
    throw new Error(`expected ${names}, but was ${describe(error)}`);
  }
  throw new Error(`expected ${names}, but the call succeeded`);
}

/** What an error says, with its type: that of the SDK's error beneath it, if there is one. @param {unknown} error */
export function describe(error) {
  const told = error?.cause instanceof A2AError ? error.cause : error;
  return told instanceof Error ? `${told.name}: ${told.message}` : String(told);
}

/** All events of a stream. */
export async function collect(stream) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
  }
  return events;
}

/** The state that an event tells, or undefined. @param {import('@a2a-js/sdk').StreamResponse} event */
export function stateOf(event) {
  return event.payload?.$case === 'artifactUpdate' ? undefined : event.payload?.value.status?.state;
}

/** Expects a stream to begin with a task. @returns {import('@a2a-js/sdk').Task} */
export function firstTask(events) {
  assert.equal(events[0]?.payload?.$case, 'task', 'the first event is not a task');
  return events[0].payload.value;
}

/** Expects the last event to tell a state. */
export function endsIn(events, state) {
  const last = events.at(-1);
  assert.ok(last, 'the stream is empty');
  assert.equal(TaskState[stateOf(last)], TaskState[state], 'the last event tells another state');
}

/** Expects all events to be of one task and one context, both named. */
export function areOfOneTask(events) {
  const { id, contextId } = firstTask(events);
  assert.ok(id && contextId, 'the task lacks its id or its contextId');
  for (const { payload } of events) {
    assert.equal(payload?.$case === 'task' ? payload.value.id : payload?.value.taskId, id);
    assert.equal(payload?.value.contextId, contextId);
  }
}

/** The artifact updates of a stream, in order. */
export function artifactUpdates(events) {
  return events
    .filter((event) => event.payload?.$case === 'artifactUpdate')
    .map((event) => event.payload.value);
}

/** The texts of an artifact's text parts. @param {import('@a2a-js/sdk').Artifact | undefined} artifact */
export function texts(artifact) {
  assert.ok(artifact, 'the artifact is missing');
  return artifact.parts.map((part) => {
    assert.equal(part.content?.$case, 'text', 'the part is not a text');
    return part.content.value;
  });
}

/** The one artifact of a task, which has to have this id. */
export function onlyArtifact(task, artifactId) {
  assert.deepEqual(
    task.artifacts.map((artifact) => artifact.artifactId),
    [artifactId],
  );
  return task.artifacts[0];
}

/** The text that a status says. */
export function statusText(status) {
  return firstText(status?.message);
}
