import { ECHO_EXTENSION } from '../values.mjs';

const MODES = ['text/plain', 'application/json', 'application/octet-stream', 'image/png'];

/** @param {string} id */
function skill(id) {
  return {
    id,
    name: id,
    description: `The skill ${id} of the interop contract`,
    tags: ['interop'],
    examples: [],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}

/** @param {string} protocolBinding @param {string} url */
function boundAt(protocolBinding, url) {
  return { url, protocolBinding, tenant: '', protocolVersion: '1.0' };
}

/**
 * The public card.
 *
 * @param {string} url the address of the HTTP server
 * @param {string} grpcAddress host and port of the gRPC server
 * @returns {import('@a2a-js/sdk').AgentCard}
 */
export function publicCard(url, grpcAddress) {
  return {
    name: 'interop-js',
    description: 'Answers the verbs of the interop contract',
    version: '1.0.0',
    supportedInterfaces: [
      boundAt('JSONRPC', `${url}/rpc`),
      boundAt('HTTP+JSON', `${url}/rest`),
      boundAt('GRPC', grpcAddress),
    ],
    provider: undefined,
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [
        { uri: ECHO_EXTENSION, description: 'Is activated by meta', required: false, params: undefined },
      ],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: [skill('verbs')],
    signatures: [],
  };
}

/**
 * The card of those who ask for more: the public one and one more skill.
 *
 * @param {import('@a2a-js/sdk').AgentCard} card
 */
export function extendedCard(card) {
  return { ...card, skills: [...card.skills, skill('extended')] };
}
