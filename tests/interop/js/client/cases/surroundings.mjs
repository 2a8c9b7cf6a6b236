import {
  A2A_VERSION_HEADER,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { ServiceParameters, withA2AExtensions, withA2AVersion } from '@a2a-js/sdk/client';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ECHO_EXTENSION } from '../../values.mjs';
import { failsWith, onlyArtifact } from '../expect.mjs';
import { BINDINGS } from '../peer.mjs';

const UNKNOWN_EXTENSION = 'https://example.com/ext/unknown/v1';
const UNKNOWN_VERSION = '9.9';

/** The client asks its card before it calls, so what an agent refuses is asked of the transport beneath it. */
function beneath(peer) {
  const serviceParameters = ServiceParameters.create(withA2AVersion(peer.client.protocolVersion));
  return { transport: peer.client.transport, call: peer.call({ serviceParameters }) };
}

/** What the executor says in the artifact of `meta`. */
function seen(task) {
  const [part] = onlyArtifact(task, 'meta').parts;
  assert.equal(part?.content?.$case, 'data');
  return part.content.value;
}

async function card({ card: { name, version, supportedInterfaces, capabilities } }) {
  assert.ok(name, 'the name is missing');
  assert.ok(version, 'the version is missing');
  assert.deepEqual(
    supportedInterfaces.map((offered) => offered.protocolBinding),
    BINDINGS,
  );
  assert.equal(capabilities?.streaming, true);
  const extension = capabilities.extensions.find(({ uri }) => uri === ECHO_EXTENSION);
  assert.ok(extension, 'the echo extension is missing');
  assert.ok(!extension.required, 'the echo extension is required');
}

async function cardExtended(peer) {
  if (peer.card.capabilities?.extendedAgentCard) {
    const { client } = await peer.another();
    const { skills } = await client.getAgentCard(peer.call());
    assert.ok(skills.some((skill) => skill.id === 'extended'), 'the skill extended is missing');
    return;
  }
  const { transport, call } = beneath(peer);
  await failsWith(
    transport.getExtendedAgentCard(GetExtendedAgentCardRequest.fromJSON({}), call),
    UnsupportedOperationError,
    ExtendedAgentCardNotConfiguredError,
  );
}

async function metaTenant(peer) {
  const task = await peer.completed('meta', { tenant: 'acme/north' });
  assert.equal(seen(task).tenant, 'acme/north');
}

async function metaMetadata(peer) {
  const metadata = { of: 'request', count: 2, nested: { list: [1, null] } };
  const messageMetadata = { of: 'message', flag: true };
  const task = await peer.completed('meta', { metadata, messageMetadata });
  assert.deepEqual(seen(task).requestMetadata, metadata);
  assert.deepEqual(seen(task).messageMetadata, messageMetadata);
  assert.deepEqual(onlyArtifact(task, 'meta').metadata, { k: 'v' });
}

/** The SDK's client does not show what an agent activated, so only the executor's side is asked. */
async function metaExtensions(peer) {
  const serviceParameters = ServiceParameters.create(withA2AExtensions(ECHO_EXTENSION, UNKNOWN_EXTENSION));
  const { extensions } = seen(await peer.completed('meta', { serviceParameters }));
  assert.ok(extensions.includes(ECHO_EXTENSION), `the executor sees ${JSON.stringify(extensions)}`);
}

async function versionUnknown(peer) {
  const interceptor = {
    async before({ options }) {
      options.serviceParameters[A2A_VERSION_HEADER] = UNKNOWN_VERSION;
    },
    async after() {},
  };
  const stranger = await peer.another({ interceptors: [interceptor] });
  await failsWith(stranger.send('echo never'), VersionNotSupportedError);
}

/** The four calls on the push configurations of a task. */
function pushCalls(client, call, taskId) {
  const url = 'https://example.com/hook';
  return {
    create: () =>
      client.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON({ taskId, url }), call),
    get: (id) =>
      client.getTaskPushNotificationConfig(
        GetTaskPushNotificationConfigRequest.fromJSON({ taskId, id }),
        call,
      ),
    list: () =>
      client.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }), call),
    delete: (id) =>
      client.deleteTaskPushNotificationConfig(
        DeleteTaskPushNotificationConfigRequest.fromJSON({ taskId, id }),
        call,
      ),
  };
}

async function push(peer) {
  const { id: taskId } = await peer.taskIn(TaskState.TASK_STATE_INPUT_REQUIRED, 'ask');
  if (!peer.card.capabilities?.pushNotifications) {
    const { transport, call } = beneath(peer);
    const refused = pushCalls(transport, call, taskId);
    const id = randomUUID();
    await failsWith(refused.create(), PushNotificationNotSupportedError);
    await failsWith(refused.get(id), PushNotificationNotSupportedError);
    await failsWith(refused.list(), PushNotificationNotSupportedError);
    await failsWith(refused.delete(id), PushNotificationNotSupportedError);
    return;
  }
  const calls = pushCalls(peer.client, peer.call(), taskId);
  const created = await calls.create();
  assert.ok(created.id, 'the configuration has no id');
  assert.equal(created.taskId, taskId);
  assert.equal(created.url, 'https://example.com/hook');
  assert.equal((await calls.get(created.id)).url, created.url);
  const { configs } = await calls.list();
  assert.deepEqual(
    configs.map(({ id }) => id),
    [created.id],
  );
  await calls.delete(created.id);
  await failsWith(calls.get(created.id), TaskNotFoundError);
}

export const SURROUNDING_CASES = {
  card,
  'card.extended': cardExtended,
  'meta.tenant': metaTenant,
  'meta.metadata': metaMetadata,
  'meta.extensions': metaExtensions,
  'version.unknown': versionUnknown,
  push,
};
