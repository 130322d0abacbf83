import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { AUDIENCE, clientsOf, createSigner, ISSUER } from '../support/tokens.ts';

guards('src/auth/tokens/token-verifier.ts', 'toTexts');

const signer = createSigner();
const MSG = 'a token was issued for another gateway';

/** Sends a token to a gateway, and returns the lines of its log. */
async function logOf(level: 'debug' | 'info', claims: Record<string, unknown>) {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level, base: null, timestamp: false }, { write: (line: string) => log.push(JSON.parse(line)) });
  const gateway = ofTest(
    await startGateway({ upstream: 'http://127.0.0.1:9', clients: clientsOf(signer) }, { logger }),
  );
  const { codes } = await gateway.send('{ __typename }', {}, { authorization: await signer.bearer(claims) });
  expect(codes).toEqual(['UNAUTHENTICATED']);
  return log;
}

it.each([
  ['iss', { iss: 'https://other.example' }, { found: 'https://other.example', expected: [ISSUER] }],
  ['iss', { iss: undefined }, { expected: [ISSUER] }],
  ['iss', { iss: `\u001b[31m\u202e${'x'.repeat(500)}` }, { found: `?[31m?${'x'.repeat(94)}`, expected: [ISSUER] }],
  ['aud', { aud: ['a', 'b'] }, { found: '["a","b"]', expected: [AUDIENCE] }],
  ['aud', { aud: undefined }, { expected: [AUDIENCE] }],
])('at the level debug, a token with another %s is a line (%o)', async (claim, claims, details) => {
  const [line, operation] = await logOf('debug', claims);
  expect(line).toEqual({ level: 20, requestId: expect.any(String), claim, ...details, msg: MSG });
  expect(operation).toMatchObject({ msg: 'operation', reason: 'TOKEN_FOR_ANOTHER', requestId: line?.requestId });
});

it.each([
  ['TOKEN_EXPIRED', { exp: 1 }],
  ['TOKEN_NOT_YET_VALID', { nbf: 4_000_000_000 }],
])('at the level debug, nothing of a token with the reason %s is in the log', async (reason, claims) => {
  const log = await logOf('debug', { ...claims, sub: 'canary' });
  expect(log).toMatchObject([{ msg: 'operation', reason }]);
  expect(JSON.stringify(log)).not.toContain('canary');
});

it('at the level info, the claims are not in the log', async () => {
  expect(JSON.stringify(await logOf('info', { aud: 'canary' }))).not.toContain('canary');
});
