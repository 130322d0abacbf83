import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Maximum size of the cache of names, which saves a hash per line. Limited in bytes, because an API key can have 2 KB. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Heap used by a cached name, without its key. */
const BYTES_PER_TENANT = 200;

/** Returns the name of an API key in logs: the first 8 hex digits of an HMAC, which distinguish callers without revealing keys. */
export type TenantNames = (credential: string) => string;

/**
 * Creates a function that names API keys.
 *
 * @param secret secret that keeps the names stable across restarts and replicas
 */
export function createTenantNames(secret: string): TenantNames {
  const names = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_TENANT + credential.length,
  });
  return (credential) => {
    let name = names.get(credential);
    if (name === undefined) {
      name = createHmac('sha256', secret).update(credential).digest('hex').slice(0, 8);
      names.set(credential, name);
    }
    return name;
  };
}
