// Starts a gateway in front of three upstreams, and finds keys that reached the wrong one.

import type { GatewayOptions } from '../../src/gateway.ts';
import { connectClients } from './concurrent-load.ts';
import { startGateway, type TestDeps } from './gateway.ts';
import { type Script, startService } from './service.ts';
import { clientsOf, createSigner } from './tokens.ts';

/** Names of the upstreams. All keys of an upstream begin with its name. */
export const NAMES = ['eu', 'us', 'ap'] as const;

export type Name = (typeof NAMES)[number];

/** Request to the gateway. */
export interface UpstreamRequest {
  /** Path and header `Host`. @default /graphql and the gateway's own */
  path?: string;
  host?: string;
  headers?: Record<string, string>;
  authorization: string;
  document?: string;
}

/** Tenants, with one of each upstream. */
export const TENANTS = {
  acme: { key: 'eu-acme', upstream: 'eu' },
  globex: { key: 'us-globex', upstream: 'us' },
  initech: 'ap-initech',
};

/** Returns the settings of the upstreams: `eu` by host, `us` by path, `ap` as the default. */
const upstreamsOf = (urls: Readonly<Record<Name, { url: string }>>) => ({
  eu: { url: urls.eu.url, hosts: ['EU.example.test'] },
  us: { url: urls.us.url, pathPrefix: '/us' },
  ap: { url: urls.ap.url, hosts: ['ap.example.test'], default: true },
});

/** Starts a gateway in front of three upstreams. */
export async function startThreeUpstreams(script: Script, options: Partial<GatewayOptions> = {}, deps: TestDeps = {}) {
  const [eu, us, ap] = await Promise.all([startService(script), startService(script), startService(script)]);
  const upstreams = { eu, us, ap };
  const signer = createSigner();
  const gateway = await startGateway(
    { upstreams: upstreamsOf(upstreams), clients: clientsOf(signer, { tenants: TENANTS }), ...options },
    deps,
  );
  const clients = connectClients(gateway.url, 60);
  return {
    gateway,
    upstreams,
    signer,
    send: ({ host, headers, document: query = '{ notificationGroups { name } }', ...request }: UpstreamRequest) =>
      clients.send({ query, ...request, headers: { ...headers, ...(host && { host }) } }),
    /** Returns the keys that upstreams received although they belong to another one. */
    misdirected: () =>
      NAMES.flatMap((name) =>
        upstreams[name].requests
          .map(({ headers }) => headers.authorization ?? 'none')
          .filter((key) => !key.startsWith(`ApiKey ${name}-`))
          .map((key) => `${name} received ${key}`),
      ),
    async [Symbol.asyncDispose]() {
      await clients[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      await Promise.all(NAMES.map((name) => upstreams[name][Symbol.asyncDispose]()));
    },
  };
}
