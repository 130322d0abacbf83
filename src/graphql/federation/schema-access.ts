import { createHash, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../../settings/settings.ts';
import type { GatewayContext } from '../context.ts';
import { readRouterSecret, routerSecretOf } from './router-secret.ts';

/** Header with the secret of a router. */
const ROUTER_AUTHORIZATION = 'router-authorization';

/** Returns whether a caller may read the schema. */
export type MaySeeSchema = (context: Pick<GatewayContext, 'request'>) => boolean;

/**
 * Creates the function that lets a caller read the schema if clients can introspect it, or with the secret of the router.
 *
 * @throws {SecretError} if the file of the secret can't be used
 */
export function createSchemaAccess(settings: Pick<Settings, 'introspection' | 'federation'>): MaySeeSchema {
  const source = routerSecretOf(settings);
  const secret = source && readRouterSecret(source);
  if (settings.introspection || secret === undefined) {
    return () => settings.introspection;
  }
  return ({ request }) => isSame(request.headers.get(ROUTER_AUTHORIZATION) ?? '', secret);
}

/** Compares hashes, so that the time reveals neither the secret nor its length. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b));

const hash = (value: string): Buffer => createHash('sha256').update(value).digest();
