import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  Role,
  SubscribeToTaskRequest,
  TaskState,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { textPart } from '../values.mjs';

const TRANSPORTS = new Map([
  ['JSONRPC', JsonRpcTransportFactory],
  ['HTTP+JSON', RestTransportFactory],
  ['GRPC', GrpcTransportFactory],
]);

/** The bindings by their names in a card. */
export const BINDINGS = [...TRANSPORTS.keys()];

/**
 * @typedef {object} SendOptions
 * @property {string} [taskId]
 * @property {string} [contextId]
 * @property {string} [tenant]
 * @property {object} [metadata] of the request
 * @property {object} [messageMetadata]
 * @property {boolean} [returnImmediately]
 * @property {Record<string, string>} [serviceParameters]
 * @property {AbortSignal} [signal]
 */

/** An agent as one case meets it: the SDK's client, and a signal that ends the calls of the case. */
export class Peer {
  /**
   * @param {import('@a2a-js/sdk').AgentCard} card
   * @param {string} binding
   * @param {import('@a2a-js/sdk/client').Client} client
   * @param {AbortSignal} signal
   */
  constructor(card, binding, client, signal) {
    this.card = card;
    this.binding = binding;
    this.client = client;
    this.signal = signal;
  }

  /** Resolves the card of an agent and makes the client of one binding. */
  static async connect(url, binding, signal) {
    const card = await new DefaultAgentCardResolver().resolve(url);
    return new Peer(card, binding, await clientFor(card, binding), signal);
  }

  /** The same agent in another case. @param {AbortSignal} signal */
  during(signal) {
    return new Peer(this.card, this.binding, this.client, signal);
  }

  /** The same agent by a client of its own. @param {import('@a2a-js/sdk/client').ClientConfig} [config] */
  async another(config) {
    return new Peer(this.card, this.binding, await clientFor(this.card, this.binding, config), this.signal);
  }

  /** What every call is given. @param {SendOptions} [options] */
  call({ serviceParameters, signal } = {}) {
    return { serviceParameters, signal: signal ? AbortSignal.any([signal, this.signal]) : this.signal };
  }

  /**
   * Sends a message and waits for the reply.
   *
   * @param {string | import('@a2a-js/sdk').Part[]} content
   * @param {SendOptions} [options]
   */
  send(content, options = {}) {
    return this.client.sendMessage(sendRequest(content, options), this.call(options));
  }

  /** Sends a message of which the reply has to be a task. */
  async task(content, options) {
    const reply = await this.send(content, options);
    assert.ok('status' in reply, 'the reply is a message, not a task');
    assert.ok(reply.id, 'the task has no id');
    assert.ok(reply.contextId, 'the task has no contextId');
    return reply;
  }

  /** Sends a message of which the reply has to be a task in a state. */
  async taskIn(state, content, options) {
    const task = await this.task(content, options);
    assert.equal(TaskState[task.status?.state], TaskState[state]);
    return task;
  }

  /** Sends a message of which the reply has to be a completed task. */
  completed(content, options) {
    return this.taskIn(TaskState.TASK_STATE_COMPLETED, content, options);
  }

  /** Sends a message and gives the events of the reply. */
  stream(content, options = {}) {
    return this.client.sendMessageStream(sendRequest(content, options), this.call(options));
  }

  /** @param {string} id */
  subscribe(id) {
    return this.client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }), this.call());
  }

  /** @param {string} id @param {number} [historyLength] */
  get(id, historyLength) {
    return this.client.getTask(GetTaskRequest.fromJSON({ id, historyLength }), this.call());
  }

  /** @param {string} id */
  cancel(id) {
    return this.client.cancelTask(CancelTaskRequest.fromJSON({ id }), this.call());
  }

  /** @param {object} query the fields of a ListTasksRequest */
  list(query) {
    return this.client.listTasks(ListTasksRequest.fromJSON(query), this.call());
  }

  /** Lets `slow KEY` go on. @param {string} key */
  async release(key) {
    const reply = await this.send(`release ${key}`);
    assert.ok('messageId' in reply, 'release is answered with a task');
    assert.equal(reply.parts[0]?.content?.value, 'released');
  }
}

function clientFor(card, binding, clientConfig) {
  const Transport = TRANSPORTS.get(binding);
  return new ClientFactory({ transports: [new Transport()], clientConfig }).createFromAgentCard(card);
}

function sendRequest(content, options) {
  const { taskId = '', contextId = '', tenant = '', metadata, messageMetadata, returnImmediately } = options;
  const message = {
    messageId: randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_USER,
    parts: typeof content === 'string' ? [textPart(content)] : content,
    metadata: messageMetadata,
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration =
    returnImmediately === undefined
      ? undefined
      : { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately };
  return { tenant, message, configuration, metadata };
}
