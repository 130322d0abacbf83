import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createRedis } from '../../redis/redis.ts';
import type { RedisScript, RedisValue } from '../../redis/redis-script.ts';
import type { RedisServer } from '../../redis/redis-server.ts';
import { describeStore } from '../../redis/store-state.ts';
import { createPartitionKeys, type PartitionKeys } from './partition-keys.ts';
import { createPendingDrops } from './pending-drops.ts';
import { MAX_SEALED_BYTES, readMoment, sealEntry, toJson, toMoment, unsealEntry } from './redis-entry.ts';
import {
  BEGIN_SCRIPT,
  DROP_ALL_SCRIPT,
  DROP_SCRIPT,
  END_SCRIPT,
  FIND_SCRIPT,
  PUT_SCRIPT,
  TRIAL_SCRIPT,
} from './redis-scripts.ts';
import { type CacheStore, type EntryAddress, type Lookup, type NewEntry, UNKNOWN_WRITE_MS } from './store.ts';

/** Options of `createRedisCacheStore`. */
export interface RedisCacheStoreOptions extends RedisServer {
  /** Secret from which the keys of all encryption are derived. */
  secret: string;
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Prefix of keys. @default 'notigraph:cache:' */
  prefix?: string;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
  /** Time for which the tags of a write count as being written after its outcome is unknown. @default UNKNOWN_WRITE_MS */
  unknownWriteMs?: number;
  /** Maximum partitions of writes that Redis missed. Beyond it, all partitions are dropped. @default 10000 */
  maxPendingDrops?: number;
}

/** Maximum size of the entries that are being compressed or sent, in bytes. Beyond it, entries are not stored. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** Lookup in a partition that must not be used, or without Redis. */
const UNAVAILABLE: Lookup = { entry: undefined, moment: undefined };

/**
 * Creates a store in Redis that workers and replicas share.
 *
 * Redis holds neither credentials nor ids in plain text, and values can only be read with the secret and the credential. A client that can write to
 * Redis can remove entries or put back older ones with their state, but not move an entry to another path, credential or upstream.
 *
 * No entry is returned that is older than a write that this process has sent. The same holds for writes of other processes, unless Redis doesn't
 * respond to the process that writes: the others may use older entries until it reaches Redis again, or until the entries expire if it never does.
 * A process that is killed during a write leaves a mark, which ends after the maximum duration of the write. A Redis server that was restarted
 * or replaced by its replica may have lost writes, so all entries from before are dropped.
 *
 * @throws {SecretError} if the URL or the certificates are invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedisCacheStore({
  url,
  ca,
  secret,
  logger,
  prefix = 'notigraph:cache:',
  timeoutMs,
  unknownWriteMs = UNKNOWN_WRITE_MS,
  maxPendingDrops = 10_000,
}: RedisCacheStoreOptions): CacheStore {
  const generation = `${prefix}generation`;
  const keysOf = createPartitionKeys(secret, prefix);
  const redis = createRedis({
    url,
    ca,
    logger,
    messages: { whileDown: 'reads are not cached', onceUp: 'Reads are cached.' },
    trial: () => ({ script: TRIAL_SCRIPT, keys: [generation, `${prefix}trial`], args: [randomUUID()] }),
    maxReplyBytes: MAX_SEALED_BYTES + 64 * 1024,
    onUp: () => void drops.retry(),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  let pendingBytes = 0;

  const run = <Reply>(script: RedisScript<Reply>, [...keys]: readonly string[], args: readonly RedisValue[] = []) =>
    redis.run({ script, keys: [generation, ...keys], args: [randomUUID(), ...args] });

  const drops = createPendingDrops(async (partition, holdMs) => {
    const done =
      partition === undefined ? run(DROP_ALL_SCRIPT, []) : run(DROP_SCRIPT, [partition], [String(Math.ceil(holdMs))]);
    return (await done) !== undefined;
  }, maxPendingDrops);

  async function find({ owner, path }: EntryAddress): Promise<Lookup> {
    const keys = keysOf(owner);
    const key = keys.entryOf(path);
    const reply = await run(FIND_SCRIPT, [keys.state, key], [String(MAX_SEALED_BYTES + 4_096)]);
    if (reply === undefined || drops.has(keys.state)) {
      return UNAVAILABLE;
    }
    return { entry: reply.value && (await unsealEntry(keys, key, reply.value)), moment: toMoment(reply) };
  }

  async function store(keys: PartitionKeys, path: string, entry: NewEntry, json: Buffer): Promise<void> {
    const startedAt = performance.now() - entry.ageMs;
    const key = keys.entryOf(path);
    const value = await sealEntry(keys, key, json, entry);
    if (value === undefined || drops.has(keys.state)) {
      return;
    }
    const { epoch, sequence } = readMoment(entry.moment);
    const numbers = [sequence, performance.now() - startedAt, entry.lifetimeMs].map((number) =>
      String(Math.ceil(number)),
    );
    await run(PUT_SCRIPT, [keys.state, key], [epoch, ...numbers, value.digests, value.header, value.sealed]);
  }

  return {
    find,
    ageOf: async (address) => (await find(address)).entry?.ageMs,
    async put({ owner, path }, entry) {
      const json = pendingBytes < MAX_PENDING_BYTES ? toJson(entry) : undefined;
      if (json !== undefined) {
        pendingBytes += json.length;
        await store(keysOf(owner), path, entry, json).catch(() => {}); // Without memory to compress it, it isn't stored.
        pendingBytes -= json.length;
        await nextTurn(); // Replies to earlier lookups may have arrived together with this one.
      }
    },
    async beginWrite(owner, tags, maxMs) {
      const keys = keysOf(owner);
      const id = randomUUID();
      const marked = await run(BEGIN_SCRIPT, [keys.state], [id, keys.digestsOf(tags), String(Math.ceil(maxMs))]);
      const unmarked = marked === undefined ? drops.beginWrite(keys.state) : undefined;
      return {
        async end(outcome, more = []) {
          const mayBeApplied = outcome !== 'not applied';
          const staysMs = outcome === 'unknown' ? unknownWriteMs : 0;
          const args = [id, keys.digestsOf([...tags, ...more]), mayBeApplied ? '1' : '0', String(staysMs)];
          const ended = await run(END_SCRIPT, [keys.state], args); // Redis may have marked the write although its response was late.
          if (unmarked !== undefined) {
            await unmarked.end(mayBeApplied, staysMs);
          } else if (ended === undefined && mayBeApplied) {
            await drops.add(keys.state, staysMs);
          }
        },
      };
    },
    async drop(owner) {
      const { state } = keysOf(owner);
      if ((await run(DROP_SCRIPT, [state], ['0'])) === undefined) {
        await drops.add(state, 0);
      }
    },
    connected: redis.connected,
    stats: () => ({ problem: describeStore(redis.status()) }),
    async [Symbol.asyncDispose]() {
      redis[Symbol.dispose]();
    },
  };
}
