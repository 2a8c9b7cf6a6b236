import { TaskState } from '@a2a-js/sdk';
import { ALL_BYTES, DATA, ECHO_EXTENSION, dataPart, firstText, rawPart, textPart, urlPart } from '../values.mjs';
import { aborted } from './gates.mjs';

/**
 * @typedef {object} Run
 * @property {import('./reply.mjs').Reply} reply
 * @property {string} argument what follows the verb
 * @property {AbortSignal} canceled
 * @property {import('./gates.mjs').Gates} gates
 */

/** Answers with a task that works, does what `work` does, and completes unless it was canceled. */
function working(work) {
  return async (/** @type {Run} */ run) => {
    run.reply.status(TaskState.TASK_STATE_WORKING);
    await work(run);
    if (!run.canceled.aborted) {
      run.reply.status(TaskState.TASK_STATE_COMPLETED);
    }
  };
}

/** Answers with a task that works and then stands in a state with a message. */
function workingUntil(state, text) {
  return async ({ reply, argument }) => {
    reply.status(TaskState.TASK_STATE_WORKING);
    reply.status(state, text ?? argument);
  };
}

function echo({ reply, argument }) {
  let shortened = false;
  const parts = reply.request.userMessage.parts.map((part) => {
    if (shortened || part.content?.$case !== 'text') {
      return part;
    }
    shortened = true;
    return { ...part, content: { $case: 'text', value: argument } };
  });
  reply.artifact('echo', parts);
}

function stream({ reply, argument }) {
  const count = Number(argument);
  for (let chunk = 0; chunk < count; chunk += 1) {
    reply.artifact('stream', [textPart(`${chunk} `)], { append: chunk > 0, lastChunk: chunk === count - 1 });
  }
}

async function slow({ reply, argument, gates, canceled }) {
  reply.artifact('slow', [textPart('first')], { lastChunk: false });
  await gates.passed(argument, canceled);
  if (!canceled.aborted) {
    reply.artifact('slow', [textPart('second')], { append: true });
  }
}

function file({ reply }) {
  reply.artifact('file', [
    rawPart(ALL_BYTES, 'bytes.bin', 'application/octet-stream'),
    urlPart('https://example.com/a.png', 'a.png', 'image/png'),
  ]);
}

function artifacts({ reply, argument }) {
  const count = Number(argument);
  for (let index = 0; index < count; index += 1) {
    reply.artifact(`a${index}`, [textPart(`artifact ${index}`)]);
  }
}

function appends({ reply }) {
  reply.artifact('a', [textPart('a1')], { lastChunk: false });
  reply.artifact('b', [textPart('b1')], { lastChunk: false });
  reply.artifact('a', [textPart('a2')], { append: true });
  reply.artifact('b', [textPart('b2')], { append: true });
}

function meta({ reply }) {
  const { context, request, userMessage } = reply.request;
  const extensions = [...(context.requestedExtensions ?? [])].sort();
  if (extensions.includes(ECHO_EXTENSION)) {
    context.addActivatedExtension(ECHO_EXTENSION);
  }
  const seen = {
    tenant: context.tenant ?? '',
    extensions,
    requestMetadata: request.metadata ?? {},
    messageMetadata: userMessage.metadata ?? {},
  };
  reply.artifact('meta', [dataPart(seen)], { metadata: { k: 'v' } });
}

/** What the agent does for a verb that answers with a task, once the task has been published. */
const TASK_VERBS = new Map([
  ['echo', working(echo)],
  ['stream', working(stream)],
  ['slow', working(slow)],
  ['hang', working(({ canceled }) => aborted(canceled))],
  ['fail', workingUntil(TaskState.TASK_STATE_FAILED)],
  [
    'raise',
    working(({ argument }) => {
      throw new Error(argument);
    }),
  ],
  ['ask', workingUntil(TaskState.TASK_STATE_INPUT_REQUIRED, 'which?')],
  ['auth', workingUntil(TaskState.TASK_STATE_AUTH_REQUIRED, 'sign in')],
  ['file', working(file)],
  ['data', working(({ reply }) => reply.artifact('data', [dataPart(DATA)]))],
  ['big', working(({ reply, argument }) => reply.artifact('big', [textPart('x'.repeat(Number(argument)))]))],
  ['artifacts', working(artifacts)],
  ['appends', working(appends)],
  ['meta', working(meta)],
]);

/** What the agent does for a verb that answers with a message. */
const MESSAGE_VERBS = new Map([
  ['message', ({ reply, argument }) => reply.message(argument)],
  [
    'release',
    ({ reply, argument, gates }) => {
      gates.release(argument);
      reply.message('released');
    },
  ],
]);

const WAITING = [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED];

/** Answers one message. @param {Omit<Run, 'argument'>} run */
export async function answer(run) {
  const { reply } = run;
  const text = firstText(reply.request.userMessage) ?? '';
  if (WAITING.includes(reply.request.task?.status?.state)) {
    reply.task(TaskState.TASK_STATE_WORKING);
    reply.artifact('answer', [textPart(text)]);
    reply.status(TaskState.TASK_STATE_COMPLETED);
    return;
  }
  const space = text.indexOf(' ');
  const verb = space < 0 ? text : text.slice(0, space);
  const argument = space < 0 ? '' : text.slice(space + 1);
  const messageVerb = MESSAGE_VERBS.get(verb);
  if (messageVerb) {
    messageVerb({ ...run, argument });
    return;
  }
  reply.task(TaskState.TASK_STATE_SUBMITTED);
  const taskVerb = TASK_VERBS.get(verb);
  if (taskVerb) {
    await taskVerb({ ...run, argument });
  } else {
    reply.status(TaskState.TASK_STATE_REJECTED, verb === 'reject' ? argument : text);
  }
}
