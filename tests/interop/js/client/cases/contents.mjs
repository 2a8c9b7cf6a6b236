import assert from 'node:assert/strict';
import { ALL_BYTES, DATA, dataPart, rawPart, textPart, urlPart } from '../../values.mjs';
import { onlyArtifact, texts } from '../expect.mjs';

const BIG = 5 * 1024 * 1024;

/** A part as it is compared: what it holds, and what is said of it. */
function comparable({ content, filename, mediaType }) {
  const value = content?.$case === 'raw' ? Buffer.from(content.value).toString('base64') : content?.value;
  return { kind: content?.$case, value, filename, mediaType };
}

function assertParts(actual, expected) {
  assert.deepEqual(actual.map(comparable), expected.map(comparable));
}

/** Compares long texts without printing them. */
function assertLong(texts, expected) {
  const text = texts.join('');
  assert.ok(text === expected, `${text.length} letters came, not the ${expected.length} expected`);
}

async function partsFile(peer) {
  const task = await peer.completed('file');
  assertParts(onlyArtifact(task, 'file').parts, [
    rawPart(ALL_BYTES, 'bytes.bin', 'application/octet-stream'),
    urlPart('https://example.com/a.png', 'a.png', 'image/png'),
  ]);
}

async function partsData(peer) {
  const task = await peer.completed('data');
  assertParts(onlyArtifact(task, 'data').parts, [dataPart(DATA)]);
}

async function partsEcho(peer) {
  const others = [
    rawPart(ALL_BYTES, 'all.bin', 'application/octet-stream'),
    urlPart('https://example.com/b.png', 'b.png', 'image/png'),
    dataPart(DATA),
  ];
  const task = await peer.completed([textPart('echo all four'), ...others]);
  assertParts(onlyArtifact(task, 'echo').parts, [textPart('all four'), ...others]);
}

/** A case of a text that comes back as it was sent. */
function echoes(text) {
  return async (peer) => {
    const task = await peer.completed(`echo ${text}`);
    assert.deepEqual(texts(onlyArtifact(task, 'echo')), [text]);
  };
}

async function bigReply(peer) {
  const task = await peer.completed(`big ${BIG}`);
  assertLong(texts(onlyArtifact(task, 'big')), 'x'.repeat(BIG));
}

async function bigRequest(peer) {
  const text = 'y'.repeat(BIG);
  const task = await peer.completed(`echo ${text}`);
  assertLong(texts(onlyArtifact(task, 'echo')), text);
}

async function messageUnary(peer) {
  const reply = await peer.send('message hi');
  assert.ok('messageId' in reply, 'the reply is a task, not a message');
  assert.deepEqual(reply.parts.map(comparable), [comparable(textPart('hi'))]);
}

async function artifactsMany(peer) {
  const { artifacts } = await peer.completed('artifacts 20');
  assert.deepEqual(
    artifacts.map((artifact) => [artifact.artifactId, ...texts(artifact)]),
    Array.from({ length: 20 }, (_, index) => [`a${index}`, `artifact ${index}`]),
  );
}

async function artifactsAppends(peer) {
  const { artifacts } = await peer.completed('appends');
  assert.deepEqual(
    artifacts.map((artifact) => [artifact.artifactId, texts(artifact).join(' ')]),
    [
      ['a', 'a1 a2'],
      ['b', 'b1 b2'],
    ],
  );
}

export const CONTENT_CASES = {
  'parts.file': partsFile,
  'parts.data': partsData,
  'parts.echo': partsEcho,
  'parts.unicode': echoes('żółw 🐢 \u2028 " \\ <&>'),
  'parts.empty_text': echoes(''),
  'parts.big_reply': bigReply,
  'parts.big_request': bigRequest,
  'message.unary': messageUnary,
  'artifacts.many': artifactsMany,
  'artifacts.appends': artifactsAppends,
};
