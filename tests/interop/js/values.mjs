/** Values that the agent and the client of this peer both build or compare. */

export const ECHO_EXTENSION = 'https://example.com/ext/echo/v1';

/** The object that the verb `data` answers with. */
export const DATA = {
  text: 'żółw 🐢 \u2028 " \\ <&>',
  integer: 42,
  negative: -7,
  float: 1.5,
  small: 1e-7,
  safe: Number.MAX_SAFE_INTEGER,
  null: null,
  true: true,
  list: [1, 'two', null, [], {}],
  object: {},
  empty: '',
};

/** The bytes 0 to 255, once each. */
export const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

/** @param {string} value */
export function textPart(value) {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

/** @param {Buffer} value @param {string} filename @param {string} mediaType */
export function rawPart(value, filename, mediaType) {
  return { content: { $case: 'raw', value }, metadata: undefined, filename, mediaType };
}

/** @param {string} value @param {string} filename @param {string} mediaType */
export function urlPart(value, filename, mediaType) {
  return { content: { $case: 'url', value }, metadata: undefined, filename, mediaType };
}

/** @param {unknown} value */
export function dataPart(value) {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' };
}

/**
 * The text of the first text part, or undefined.
 *
 * @param {{ parts?: import('@a2a-js/sdk').Part[] } | undefined} message a message or an artifact
 * @returns {string | undefined}
 */
export function firstText(message) {
  return message?.parts?.find((part) => part.content?.$case === 'text')?.content.value;
}
