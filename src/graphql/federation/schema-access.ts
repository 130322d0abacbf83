import { createHash, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../../settings/settings.ts';
import type { GatewayContext } from '../context.ts';

/** Header with the secret of a router. */
const ROUTER_AUTHORIZATION = 'router-authorization';

/** Returns whether a caller may read the schema. */
export type MaySeeSchema = (context: Pick<GatewayContext, 'request'>) => boolean;

/** Creates the rule: whoever may introspect, and routers with the secret. */
export function createSchemaAccess({
  introspection,
  federation,
}: Pick<Settings, 'introspection' | 'federation'>): MaySeeSchema {
  const secret = typeof federation === 'object' ? federation.routerSecret : undefined;
  return ({ request }) => {
    const given = request.headers.get(ROUTER_AUTHORIZATION);
    return introspection || (secret !== undefined && given !== null && isSame(given, secret));
  };
}

/** Compares hashes, so that the time tells nothing about the secret. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b));

const hash = (value: string): Buffer => createHash('sha256').update(value).digest();
