import { expect, it } from 'vitest';
import { READ_WORKFLOW, respondTo, startCachedGateway } from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';

guards('src/upstream/transport/exchange.ts', 'readETag');

const nameOf = (name: string) => ({ workflow: { name } });

/** Returns a script whose responses have an `ETag`, and are a 304 if the request has it. */
const withETag =
  (etag: string, name: string) =>
  ({ method, path, headers }: { method: string; path: string; headers: Record<string, unknown> }) =>
    headers['if-none-match'] === etag
      ? { status: 304, headers: { etag } }
      : { ...respondTo(method, path, name), headers: { etag } };

it.each(['"1"', 'W/"a-b"'])('a 304 to If-None-Match: %s renews a response', async (etag) => {
  await using cached = await startCachedGateway();
  cached.service.script = withETag(etag, 'v0');
  await cached.run(READ_WORKFLOW);
  cached.advance(61);
  const results = await Promise.all([cached.run(READ_WORKFLOW), cached.run(READ_WORKFLOW)]);
  expect(results).toEqual([nameOf('v0'), nameOf('v0')]); // The second one has joined the first one's call.
  expect(cached.service.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, etag]);
  cached.advance(30);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf('v0'));
  expect(cached.service.calls()).toHaveLength(2);
  cached.advance(31);
  cached.service.script = withETag('"2"', 'v1');
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf('v1'));
});

it.each(['1', '"a"b"', `"${'x'.repeat(255)}"`, '"é"'])('an invalid or long ETag is not sent back: %s', async (etag) => {
  await using cached = await startCachedGateway();
  cached.service.script = withETag(etag, 'v0');
  await cached.run(READ_WORKFLOW);
  cached.advance(61);
  await cached.run(READ_WORKFLOW);
  expect(cached.service.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
});
