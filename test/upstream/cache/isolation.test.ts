import { describe, expect, it } from 'vitest';
import { READ_WORKFLOW, respondTo, startCachedGateway } from '../../support/cached-gateway.ts';

const GET = 'GET /v1/workflows/welcome';
const READ_GROUPS = '{ notificationGroups { name } }';
const WRITE = 'mutation { createNotificationGroup(input: { name: "New" }) { __typename } }';

const nameOf = (version: number) => ({ workflow: { name: `v${version}` } });

it('no key reads what another one has loaded, and its writes and rejections change nothing for others', async () => {
  await using cached = await startCachedGateway();
  await cached.run(READ_GROUPS, 'a');
  cached.change();
  expect(await cached.run(READ_GROUPS, 'b')).toEqual({ notificationGroups: [{ name: 'v1' }] });
  await cached.run(WRITE, 'b');
  cached.service.script = () => ({ status: 401, body: {} });
  expect(await cached.run(READ_WORKFLOW, 'b')).toEqual(['UNAUTHENTICATED']);
  expect(await cached.run(READ_GROUPS, 'a')).toEqual({ notificationGroups: [{ name: 'v0' }] });
});

describe('a rejected key', () => {
  it.each([
    [401, READ_GROUPS],
    [403, READ_GROUPS],
    [403, WRITE],
  ])('loses all its entries after a %i in response to %s', async (status, document) => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW);
    cached.service.script = () => ({ status, body: {} });
    await cached.run(document);
    cached.change();
    expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
  });

  it('does not get back what a read in flight returns', async () => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW);
    cached.advance(3_600); // The entry is too old.
    const held = cached.service.hold('GET /v1/notification-groups');
    const early = cached.run(READ_GROUPS);
    await held.arrived;
    cached.service.script = () => ({ status: 401, body: {} });
    expect(await cached.run(READ_WORKFLOW)).toEqual(['UNAUTHENTICATED']);
    held.release();
    expect(await early).toEqual({ notificationGroups: [{ name: 'v0' }] });
    expect(await cached.run(READ_GROUPS)).toEqual(['UNAUTHENTICATED']);
  });

  it('loses its entries if it is rejected during a refresh in the background, and others keep theirs', async () => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW, 'a');
    cached.advance(31);
    await cached.run(READ_WORKFLOW, 'b');
    cached.service.script = () => ({ status: 401, body: {} });
    expect(await cached.run(READ_WORKFLOW, 'a')).toEqual(nameOf(0));
    await expect.poll(() => cached.run(READ_WORKFLOW, 'a')).toEqual(['UNAUTHENTICATED']);
    expect(await cached.run(READ_WORKFLOW, 'b')).toEqual(nameOf(0));
  });

  it('loses also an entry that is about to be used because the service fails', async () => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW);
    cached.advance(61);
    cached.service.script = () => ({ status: 503, body: {} });
    const held = cached.service.hold(GET);
    const read = cached.run(READ_WORKFLOW);
    await held.arrived;
    cached.service.script = () => ({ status: 401, body: {} });
    await cached.run(READ_GROUPS);
    held.release();
    expect(await read).toEqual(['UPSTREAM_UNAVAILABLE']);
  });

  it('does not end a write of another operation: reads during it are not stored', async () => {
    await using cached = await startCachedGateway();
    const held = cached.service.hold('POST /v1/notification-groups');
    const write = cached.run(WRITE);
    await held.arrived;
    cached.service.script = () => ({ status: 403, body: {} });
    await cached.run(READ_WORKFLOW);
    cached.service.script = ({ method, path }) => respondTo(method, path, 'v0');
    cached.service.forget();
    await cached.run(READ_GROUPS);
    await cached.run(READ_GROUPS);
    expect(cached.service.calls()).toHaveLength(2);
    held.release();
    await write;
    cached.change();
    expect(await cached.run(READ_GROUPS)).toEqual({ notificationGroups: [{ name: 'v1' }] });
  });
});
