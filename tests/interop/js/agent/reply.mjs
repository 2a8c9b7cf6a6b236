import { Role } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { randomUUID } from 'node:crypto';
import { textPart } from '../values.mjs';

/** What one run of the executor publishes on its bus. */
export class Reply {
  /**
   * @param {import('@a2a-js/sdk/server').RequestContext} request
   * @param {import('@a2a-js/sdk/server').ExecutionEventBus} bus
   */
  constructor(request, bus) {
    this.request = request;
    this.bus = bus;
  }

  /**
   * Publishes the task, which the SDK wants first, also when the task goes on. A task that goes on says WORKING
   * at once, since the SDK ends a stream at a task that still asks for input.
   *
   * @param {import('@a2a-js/sdk').TaskState} state
   */
  task(state) {
    const { taskId: id, contextId, task, userMessage } = this.request;
    const history = task?.history ?? [userMessage];
    const begun = task ?? { id, contextId, artifacts: [], history, metadata: undefined };
    this.bus.publish(AgentEvent.task({ ...begun, status: this.#status(state) }));
  }

  /** @param {import('@a2a-js/sdk').TaskState} state @param {string} [text] */
  status(state, text) {
    const { taskId, contextId } = this.request;
    const status = this.#status(state, text);
    this.bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }

  /**
   * @param {string} artifactId
   * @param {import('@a2a-js/sdk').Part[]} parts
   * @param {{ append?: boolean, lastChunk?: boolean, metadata?: object }} [options]
   */
  artifact(artifactId, parts, { append = false, lastChunk = true, metadata } = {}) {
    const { taskId, contextId } = this.request;
    const artifact = { artifactId, name: artifactId, description: '', parts, metadata, extensions: [] };
    this.bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }),
    );
  }

  /** Answers with a message and no task. @param {string} text */
  message(text) {
    this.bus.publish(AgentEvent.message({ ...this.#message(text), taskId: '' }));
  }

  #status(state, text) {
    const message = text === undefined ? undefined : this.#message(text);
    return { state, message, timestamp: new Date().toISOString() };
  }

  #message(text) {
    const { taskId, contextId } = this.request;
    return {
      messageId: randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [textPart(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
  }
}
