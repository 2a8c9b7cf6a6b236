import { TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { Gates } from './gates.mjs';
import { Reply } from './reply.mjs';
import { answer } from './verbs.mjs';

/**
 * The agent of the contract.
 *
 * @implements {import('@a2a-js/sdk/server').AgentExecutor}
 */
export class ContractExecutor {
  #gates = new Gates();

  /** The context of each task that was begun here, and what cancels its run. */
  #begun = new Map();

  /** @type {import('@a2a-js/sdk/server').AgentExecutor['execute']} */
  async execute(request, bus) {
    const cancel = new AbortController();
    this.#begun.set(request.taskId, { contextId: request.contextId, cancel });
    await answer({ reply: new Reply(request, bus), canceled: cancel.signal, gates: this.#gates });
  }

  /** @type {import('@a2a-js/sdk/server').AgentExecutor['cancelTask']} */
  async cancelTask(taskId, bus) {
    const begun = this.#begun.get(taskId);
    begun?.cancel.abort();
    const status = {
      state: TaskState.TASK_STATE_CANCELED,
      message: undefined,
      timestamp: new Date().toISOString(),
    };
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId: begun?.contextId ?? '', status, metadata: undefined }),
    );
  }
}
