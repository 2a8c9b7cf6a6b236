import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { Role, TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { failsWith, onlyArtifact, statusText, texts } from '../expect.mjs';

/** Three finished tasks of one new context, oldest first. */
async function threeTasks(peer) {
  const contextId = randomUUID();
  const ids = [];
  for (const name of ['one', 'two', 'three']) {
    const task = await peer.completed(`echo ${name}`, { contextId });
    assert.equal(task.contextId, contextId);
    ids.push(task.id);
  }
  return { contextId, ids };
}

function idsOf(page) {
  return page.tasks.map((task) => task.id);
}

async function cancelRunning(peer) {
  const { id } = await peer.task('hang', { returnImmediately: true });
  const canceled = await peer.cancel(id);
  assert.equal(TaskState[canceled.status?.state], 'TASK_STATE_CANCELED');
  assert.equal((await peer.get(id)).status?.state, TaskState.TASK_STATE_CANCELED);
}

async function cancelFinished(peer) {
  const { id } = await peer.completed('echo done');
  await failsWith(peer.cancel(id), TaskNotCancelableError);
}

async function cancelUnknown(peer) {
  await failsWith(peer.cancel(randomUUID()), TaskNotFoundError);
}

async function get(peer) {
  const { id, contextId } = await peer.completed('echo kept');
  const task = await peer.get(id);
  assert.equal(task.id, id);
  assert.equal(task.contextId, contextId);
  assert.equal(TaskState[task.status?.state], 'TASK_STATE_COMPLETED');
  assert.deepEqual(texts(onlyArtifact(task, 'echo')), ['kept']);
}

async function getUnknown(peer) {
  await failsWith(peer.get(randomUUID()), TaskNotFoundError);
}

/** Lets a task ask, and answers it. */
async function answered(peer, verb, state, question) {
  const asked = await peer.taskIn(state, verb);
  assert.equal(statusText(asked.status), question);
  const { id: taskId, contextId } = asked;
  const task = await peer.completed('this one', { taskId, contextId });
  assert.equal(task.id, taskId);
  assert.deepEqual(texts(onlyArtifact(task, 'answer')), ['this one']);
  return taskId;
}

async function getHistory(peer) {
  const id = await answered(peer, 'ask', TaskState.TASK_STATE_INPUT_REQUIRED, 'which?');
  assert.ok((await peer.get(id, 1)).history.length <= 1, 'historyLength 1 gives more than one message');
  assert.equal((await peer.get(id, 0)).history.length, 0, 'historyLength 0 gives messages');
  const { history } = await peer.get(id);
  const said = history.filter((message) => message.role === Role.ROLE_USER);
  assert.deepEqual(
    said.map((message) => message.parts[0]?.content?.value),
    ['ask', 'this one'],
  );
}

async function listPaging(peer) {
  const { contextId, ids } = await threeTasks(peer);
  const newest = await peer.list({ contextId, pageSize: 2 });
  assert.deepEqual(idsOf(newest), [ids[2], ids[1]]);
  assert.ok(newest.nextPageToken, 'nextPageToken is missing');
  const rest = await peer.list({ contextId, pageSize: 2, pageToken: newest.nextPageToken });
  assert.deepEqual(idsOf(rest), [ids[0]]);
  assert.equal(rest.nextPageToken, '');
}

async function listFilter(peer) {
  const { contextId, ids } = await threeTasks(peer);
  const asking = await peer.taskIn(TaskState.TASK_STATE_INPUT_REQUIRED, 'ask', { contextId });
  assert.deepEqual(new Set(idsOf(await peer.list({ contextId }))), new Set([...ids, asking.id]));
  const waiting = await peer.list({ contextId, status: TaskState.TASK_STATE_INPUT_REQUIRED });
  assert.deepEqual(idsOf(waiting), [asking.id]);
  const anywhere = await peer.list({ status: TaskState.TASK_STATE_INPUT_REQUIRED, pageSize: 100 });
  assert.ok(idsOf(anywhere).includes(asking.id), 'the state alone does not find the task');
  assert.ok(anywhere.tasks.every((task) => task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED));
}

async function listArtifacts(peer) {
  const { contextId } = await peer.completed('echo shown');
  const without = await peer.list({ contextId });
  assert.equal(without.tasks.length, 1);
  assert.deepEqual(without.tasks[0].artifacts, []);
  const complete = await peer.list({ contextId, includeArtifacts: true });
  assert.equal(complete.tasks.length, 1);
  assert.deepEqual(texts(onlyArtifact(complete.tasks[0], 'echo')), ['shown']);
}

async function listPageSize(peer) {
  await failsWith(peer.list({ pageSize: 101 }), RequestMalformedError);
}

async function endingRaise(peer) {
  const contextId = randomUUID();
  try {
    await peer.taskIn(TaskState.TASK_STATE_FAILED, 'raise broken', { contextId });
  } catch (error) {
    if (error instanceof assert.AssertionError) {
      throw error;
    }
  }
  const { tasks } = await peer.list({ contextId });
  assert.deepEqual(
    tasks.map((task) => TaskState[task.status?.state]),
    ['TASK_STATE_FAILED'],
  );
}

/** A case of a verb that ends in a state with its argument as the text. */
function endsWithText(verb, state) {
  return async (peer) => {
    const task = await peer.taskIn(state, `${verb} no luck`);
    assert.equal(statusText(task.status), 'no luck');
  };
}

async function errorNoParts(peer) {
  await failsWith(peer.send([]), RequestMalformedError);
}

async function errorFinished(peer) {
  const { id: taskId, contextId } = await peer.completed('echo done');
  await failsWith(peer.send('echo more', { taskId, contextId }), UnsupportedOperationError);
}

async function errorUnknownTask(peer) {
  await failsWith(peer.send('echo lost', { taskId: randomUUID() }), TaskNotFoundError);
}

async function contextReuse(peer) {
  const first = await peer.completed('echo one');
  const second = await peer.completed('echo two', { contextId: first.contextId });
  assert.equal(second.contextId, first.contextId);
  assert.notEqual(second.id, first.id);
  const { id: taskId } = await peer.taskIn(TaskState.TASK_STATE_INPUT_REQUIRED, 'ask');
  await failsWith(peer.send('this one', { taskId, contextId: first.contextId }), RequestMalformedError);
}

export const TASK_CASES = {
  'cancel.running': cancelRunning,
  'cancel.finished': cancelFinished,
  'cancel.unknown': cancelUnknown,
  get,
  'get.unknown': getUnknown,
  'get.history': getHistory,
  'list.paging': listPaging,
  'list.filter': listFilter,
  'list.artifacts': listArtifacts,
  'list.page_size': listPageSize,
  'input.unary': (peer) => answered(peer, 'ask', TaskState.TASK_STATE_INPUT_REQUIRED, 'which?'),
  'auth.unary': (peer) => answered(peer, 'auth', TaskState.TASK_STATE_AUTH_REQUIRED, 'sign in'),
  'ending.fail': endsWithText('fail', TaskState.TASK_STATE_FAILED),
  'ending.raise': endingRaise,
  'ending.reject': endsWithText('reject', TaskState.TASK_STATE_REJECTED),
  'error.no_parts': errorNoParts,
  'error.finished': errorFinished,
  'error.unknown_task': errorUnknownTask,
  'context.reuse': contextReuse,
};
