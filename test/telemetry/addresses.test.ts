import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { feed } from '../support/records.ts';
import { createTestFolder } from '../support/sandbox-files.ts';

guards('src/http/pipeline/request-headers.ts', 'sendersIn');

// Addresses of clients in the log and the audit log. The connection is that of a test on 127.0.0.1.

const CREATE_FEED = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

/** Sends a write. @returns the addresses in the two logs, and the headers that the service got */
async function write(trustedProxies: GatewayOptions['trustedProxies'], headers: Record<string, string>) {
  const file = (await createTestFolder()).path('audit.jsonl');
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: feed() } }),
    audit: { to: { file } },
    ...(trustedProxies && { trustedProxies }),
  });
  await gateway.send(CREATE_FEED, {}, { headers });
  const { address } = gateway.log.find(({ msg }) => msg === 'operation') ?? {};
  const audited: { address?: string } = JSON.parse(await readFile(file, 'utf8'));
  expect(audited.address).toBe(address);
  const sent = Object.keys(gateway.service.requests[0]?.headers ?? {});
  expect(sent.filter((name) => /forwarded/.test(name))).toEqual([]);
  return address;
}

const LOCAL = { addresses: ['127.0.0.0/8'] };
const CHAIN = { addresses: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] };
const FORWARDED = { ...CHAIN, header: 'Forwarded' as const };

it.each<[string, GatewayOptions['trustedProxies'], Record<string, string>, string | undefined]>([
  ['by default', undefined, { 'x-forwarded-for': '203.0.113.9' }, undefined],
  ['without a proxy', {}, {}, '127.0.0.1'],
  ['with a header of somebody who is not trusted', {}, { 'x-forwarded-for': '203.0.113.9' }, '127.0.0.1'],
  ['behind a proxy', LOCAL, { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['with an invented address before the true one', LOCAL, { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' }, '203.0.113.9'],
  ['behind several proxies', CHAIN, { 'x-forwarded-for': '1.1.1.1, 203.0.113.9, fd00::1, 10.1.2.3' }, '203.0.113.9'],
  ['with a port', CHAIN, { 'x-forwarded-for': '[2001:db8::7]:4711,10.1.2.3:80' }, '2001:db8::7'],
  ['with an IPv4 address in IPv6 form', CHAIN, { 'x-forwarded-for': '::ffff:203.0.113.9' }, '203.0.113.9'],
  ['with nonsense', CHAIN, { 'x-forwarded-for': 'x\u00e9, unknown' }, '127.0.0.1'],
  ['with nonsense before a proxy', CHAIN, { 'x-forwarded-for': '"<script>", 10.1.2.3' }, '10.1.2.3'],
  ['with the other header', LOCAL, { forwarded: 'for=203.0.113.9' }, '127.0.0.1'],
  [
    'in Forwarded',
    FORWARDED,
    { forwarded: 'for=1.1.1.1, For="[2001:db8::7]:4711";proto=https, by=x;for=10.1.2.3' },
    '2001:db8::7',
  ],
  [
    'in Forwarded with a value that looks like another element',
    FORWARDED,
    { forwarded: 'for=203.0.113.9;host="a,for=1.1.1.1", for=10.1.2.3;ext="\\",for=1.1.1.1;x=\\""' },
    '203.0.113.9',
  ],
  [
    'in Forwarded, quoted with a backslash',
    FORWARDED,
    { forwarded: 'by="_a;for=1.1.1.1" ; For="203.0.113\\.9"' },
    '203.0.113.9',
  ],
  [
    'in Forwarded with empty elements',
    FORWARDED,
    { forwarded: ',for=203.0.113.9;;by=a, ,for=10.1.2.3,;' },
    '203.0.113.9',
  ],
  ['in Forwarded without an address', FORWARDED, { forwarded: 'for=203.0.113.9,by=a' }, '127.0.0.1'],
  ['in Forwarded behind an open quote', FORWARDED, { forwarded: 'for="1.1.1.1, for=203.0.113.9' }, '203.0.113.9'],
  [
    'in Forwarded behind a quote that the next would close',
    FORWARDED,
    { forwarded: 'a="b, for="[2001:db8::7]"' },
    '2001:db8::7',
  ],
  [
    'in Forwarded behind a quote out of place',
    FORWARDED,
    { forwarded: '", for=203.0.113.9;host=",for=1.1.1.1"' },
    '203.0.113.9',
  ],
  [
    'in Forwarded whose quotes a client has shifted',
    FORWARDED,
    { forwarded: 'a=", for=203.0.113.9;host=",for=1.1.1.1;b="' },
    '127.0.0.1',
  ],
  ['in Forwarded that ends with an open quote', FORWARDED, { forwarded: 'for=1.1.1.1;host="' }, '127.0.0.1'],
  ['with a zone', CHAIN, { 'x-forwarded-for': '2001:db8::7%eth0, fd00::1%eth0' }, '2001:db8::7'],
  ['hidden in Forwarded', FORWARDED, { forwarded: 'for=_secret' }, '127.0.0.1'],
])('the address of a client is logged %s', async (_, trustedProxies, headers, expected) => {
  expect(await write(trustedProxies, headers)).toBe(expected);
});

it.each(['10.0.0.0/33', '10.0.0/8', 'proxy.example', '10.0.0.1/', ''])('%j is no range of addresses', async (range) => {
  await expect(write({ addresses: [range] }, {})).rejects.toThrow(
    'must be an IP address or a range such as 10.0.0.0/8',
  );
});
