/** The agent of the contract, on the SDK's own server: `node agent.mjs`. */

import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { A2AService, UserBuilder as GrpcUserBuilder, grpcService } from '@a2a-js/sdk/server/grpc';
import grpc from '@grpc/grpc-js';
import express from 'express';
import { once } from 'node:events';
import http from 'node:http';
import { promisify } from 'node:util';
import { extendedCard, publicCard } from './agent/card.mjs';
import { ContractExecutor } from './agent/executor.mjs';
import { sdkVersion } from './sdk.mjs';

const LIFETIME_MS = 10 * 60 * 1000;
const LOOPBACK = '127.0.0.1';
const MAX_GRPC_MESSAGE_BYTES = 16 * 1024 * 1024;

const httpServer = http.createServer();
httpServer.listen(0, LOOPBACK);
await once(httpServer, 'listening');
const url = `http://${LOOPBACK}:${httpServer.address().port}`;

const grpcServer = new grpc.Server({ 'grpc.max_receive_message_length': MAX_GRPC_MESSAGE_BYTES });
const bind = promisify(grpcServer.bindAsync.bind(grpcServer));
const grpcPort = await bind(`${LOOPBACK}:0`, grpc.ServerCredentials.createInsecure());

const card = publicCard(url, `${LOOPBACK}:${grpcPort}`);
const requestHandler = new DefaultRequestHandler(
  card,
  new InMemoryTaskStore(),
  new ContractExecutor(),
  undefined,
  undefined,
  undefined,
  async () => extendedCard(card),
);

const app = express();
app.set('env', 'production'); // Else its error pages show stacks with paths of this machine.
const userBuilder = UserBuilder.noAuthentication;
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
app.use('/rest', restHandler({ requestHandler, userBuilder }));
httpServer.on('request', app);
grpcServer.addService(
  A2AService,
  grpcService({ requestHandler, userBuilder: GrpcUserBuilder.noAuthentication }),
);

process.stdin.resume();
process.stdin.once('close', () => process.exit(0));
setTimeout(() => process.exit(0), LIFETIME_MS);
process.stdout.write(`${JSON.stringify({ ready: true, url, sdk: `@a2a-js/sdk ${sdkVersion()}` })}\n`);
