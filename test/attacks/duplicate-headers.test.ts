import { expect, it } from 'vitest';
import { findDuplicateHeader } from '../../src/http/adapters/node-adapter.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { connectRaw } from '../support/raw-client.ts';

guards('src/http/adapters/node-adapter.ts', 'createListener');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.constructor');

const gateway = ofFile(await startGateway({ service: 'sandbox' }));

const HEADERS = { Host: 'localhost', 'Content-Type': 'application/json', Authorization: 'ApiKey one' };

it.each(['Host', 'Content-Type', 'Authorization'])(
  'two %s headers are rejected with 400, whatever their case',
  async (name) => {
    for (const second of [name, name.toLowerCase(), name.toUpperCase()]) {
      for (const path of ['/graphql', '/client-tokens']) {
        const client = await connectRaw(new URL(gateway.url).origin);
        const lines = Object.entries(HEADERS).map(([header, value]) => `${header}: ${value}\r\n`);
        await client.send(`POST ${path} HTTP/1.1\r\n${lines.join('')}${second}: other\r\nContent-Length: 2\r\n\r\n{}`);
        await client.closed;
        const [head, body = ''] = client.received().split('\r\n\r\n');
        expect(head).toMatch(/^HTTP\/1\.1 400 /);
        expect(JSON.parse(body)).toEqual({
          errors: [
            {
              message: expect.stringContaining(name),
              extensions: { code: 'BAD_REQUEST', retryable: false, requestId: expect.any(String) },
            },
          ],
        });
      }
    }
  },
);

it('other headers may be repeated, and each of those three may occur once', () => {
  const once = Object.entries(HEADERS).flat();
  // Same lengths and first letters as those three.
  const others = ['Hast', 'hast', 'Content-Tape', 'content-tape', 'Authorisation', 'authorisation'].flatMap((name) => [
    name,
    'a',
  ]);
  expect(findDuplicateHeader([...once, ...others, 'Accept', '*/*', 'Accept', '*/*', '', '', '', ''])).toBeUndefined();
  expect(findDuplicateHeader([...others, ...once, ...others, 'hOST', 'x'])).toBe('Host');
});
