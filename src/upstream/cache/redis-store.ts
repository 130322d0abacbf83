import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createRedis } from '../../redis/redis.ts';
import { NotRedisError } from '../../redis/redis-failure.ts';
import type { RedisWork } from '../../redis/redis-script.ts';
import type { RedisServer } from '../../redis/redis-server.ts';
import { describeStore } from '../../redis/store-state.ts';
import type { UpstreamResult } from '../request.ts';
import { createOwnerKeys, MAX_SEALED_BYTES, sealResult, toJson, unsealResult } from './sealing.ts';
import {
  type CachedKind,
  type CacheStore,
  type EntryAddress,
  type Lookup,
  type Owner,
  UNKNOWN_WRITE_MS,
} from './store.ts';

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
  /** Time for which a write with an unknown outcome counts as being in progress. @default UNKNOWN_WRITE_MS */
  unknownWriteMs?: number;
  /** Maximum versions that are to be replaced once Redis is back. Beyond it, this process uses no entry from before. @default 10000 */
  maxMissed?: number;
}

/** Names of an owner's state of one kind in Redis. */
interface StateKeys {
  version: string;
  /** Hash of the writes in progress: their deadlines, on the clock of Redis. */
  writes: string;
}

/** State that a lookup found. */
interface State {
  /** Time of Redis, in milliseconds. */
  now: number;
  version: string | undefined;
  epoch: string | undefined;
  isWriting: boolean;
  value: Buffer | undefined;
}

/** Time after which a version that nobody uses is forgotten, in milliseconds. Entries live for two days at most. */
const VERSION_MS = 2 * 86_400_000;

/** Maximum size of the responses that are being compressed or sent, in bytes. Beyond it, responses are not stored. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** Maximum size of the text before a sealed value. */
const MAX_HEADER_BYTES = 256;

/**
 * Creates a store in Redis that workers and replicas share.
 *
 * Redis holds neither credentials nor ids in plain text, and values can only be read with the secret and the credential. A client that can write to
 * Redis can remove entries or put back older ones with their state, but not move an entry to another path, credential or upstream.
 *
 * No entry is returned that is older than a write that this process has sent. The same holds for writes of other processes, unless Redis doesn't
 * respond to the process that writes: the others may use older entries until it reaches Redis again, or until the entries expire if it never does.
 * A Redis server that was restarted or replaced by its replica may have lost writes, so entries from before are not used.
 *
 * Commands of one turn run in their order, so no transaction is needed: a write replaces the version before it is sent and after it has ended, and
 * counts as being in progress in between.
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
  maxMissed = 10_000,
}: RedisCacheStoreOptions): CacheStore {
  const keysOf = createOwnerKeys(secret);
  /** Replaced by every write of anybody. A first version is only as good as a lookup that no write has followed. */
  const epochKey = `${prefix}epoch`;
  /** Versions that writes should have replaced while Redis didn't respond. */
  const missed = new Set<string>();
  /** Writes in progress that Redis doesn't know, by version. */
  const unmarked = new Map<string, number>();
  /** Server and the history of its data: another one has no usable entries. */
  let history = '';
  let ignoresBefore: number | 'next lookup' = 0;
  let pendingBytes = 0;
  const redis = createRedis({
    url,
    ca,
    logger,
    messages: { whileDown: 'reads are not cached', onceUp: 'Reads are cached.' },
    async trial(send) {
      const [server, replication] = await Promise.all([
        send('INFO', 'server'),
        send('INFO', 'replication'),
        send('SET', `${prefix}trial`, '1', 'PX', '1'),
      ]);
      history = readHistory(server, replication);
    },
    maxReplyBytes: MAX_SEALED_BYTES + 64 * 1024,
    onUp: () => void replaceMissed(),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

  const stateOf = (owner: Owner, kind: CachedKind): StateKeys => {
    const { id } = keysOf(owner);
    return { version: `${prefix}version:${id}:${kind}`, writes: `${prefix}writes:${id}:${kind}` };
  };
  const entryKeyOf = ({ owner, kind, path }: EntryAddress) =>
    `${prefix}entry:${keysOf(owner).digestOf(`${kind} ${path}`)}`;

  async function replaceMissed(): Promise<void> {
    const keys = [...missed];
    const isReplaced = await redis.run(async (send) => {
      await Promise.all([
        send('SET', epochKey, randomUUID()),
        ...keys.map((key) => send('SET', key, randomUUID(), 'PX', String(VERSION_MS))),
      ]);
      return true;
    });
    for (const key of isReplaced ? keys : []) {
      missed.delete(key);
    }
  }

  /** Notes that a write should have replaced versions. */
  function miss(keys: readonly StateKeys[]): void {
    for (const { version } of keys) {
      missed.add(version);
    }
    if (missed.size > maxMissed) {
      missed.clear();
      ignoresBefore = 'next lookup';
    }
  }

  /** Replaces versions before and after a write. Returns whether Redis has done so. */
  async function replace(keys: readonly StateKeys[], mark: RedisWork<unknown>): Promise<boolean> {
    const isReplaced = await redis.run(async (send) => {
      await Promise.all([
        send('SET', epochKey, randomUUID()), // First: see `put`.
        ...keys.map(({ version }) => send('SET', version, randomUUID(), 'PX', String(VERSION_MS))),
        mark(send), // Last, so that nobody sees a version from before as one without a write.
      ]);
      return true;
    });
    return isReplaced === true;
  }

  async function find(address: EntryAddress): Promise<Lookup> {
    const { version: versionKey, writes } = stateOf(address.owner, address.kind);
    const key = entryKeyOf(address);
    const state = await redis.run((send) => readState(send, [versionKey, epochKey, key], writes));
    if (state === undefined || missed.has(versionKey) || unmarked.has(versionKey)) {
      return { entry: undefined, version: undefined, at: 0 };
    }
    const { now, version, epoch, isWriting, value } = state;
    if (ignoresBefore === 'next lookup') {
      ignoresBefore = now;
    }
    const shown = version === undefined ? `none ${epoch}` : `${history} ${version}`;
    if (isWriting || version === undefined || value === undefined) {
      return { entry: undefined, version: isWriting ? `${shown} writing` : shown, at: now };
    }
    const end = value.indexOf('\n');
    const header = value.toString('latin1', 0, Math.min(Math.max(0, end), MAX_HEADER_BYTES));
    const at = Number(header.slice(0, header.indexOf(' ')));
    const isCurrent = header === `${at} ${shown}` && at >= ignoresBefore && at <= now;
    const result = isCurrent
      ? await unsealResult(value.subarray(end + 1), keysOf(address.owner).encryption, `${key} ${shown}`)
      : undefined;
    return { entry: result && { result, ageMs: now - at }, version: shown, at: now };
  }

  /**
   * Stores a response if its lookup found a version. Otherwise, sets the first one, and stores the response only if no write has replaced the epoch
   * since the lookup: that write's version may have been evicted.
   */
  async function store(address: EntryAddress, lookup: Lookup, json: Buffer, lifetimeMs: number): Promise<void> {
    const startedAt = performance.now();
    const { version: versionKey } = stateOf(address.owner, address.kind);
    const key = entryKeyOf(address);
    let { version = '' } = lookup;
    if (version.startsWith('none ')) {
      const [, first, epoch] =
        (await redis.run((send) =>
          Promise.all([
            send('SET', versionKey, randomUUID(), 'PX', String(VERSION_MS), 'NX'),
            send('GET', versionKey), // Another read may have set it.
            send('GET', epochKey), // After the version, because a write replaces them in the other order.
            send('SET', epochKey, randomUUID(), 'NX'),
          ]),
        )) ?? [];
      if (textOf(first) === undefined || textOf(epoch) === undefined || version !== `none ${textOf(epoch)}`) {
        return;
      }
      version = `${history} ${textOf(first)}`;
    }
    const sealed = await sealResult(json, keysOf(address.owner).encryption, `${key} ${version}`);
    const remainingMs = Math.ceil(lifetimeMs - (performance.now() - startedAt));
    if (sealed === undefined || remainingMs <= 0 || !version.startsWith(`${history} `)) {
      return;
    }
    const value = Buffer.concat([Buffer.from(`${lookup.at} ${version}\n`), sealed]);
    await redis.run((send) =>
      Promise.all([
        send('SET', key, value, 'PX', String(remainingMs)),
        send('PEXPIRE', versionKey, String(VERSION_MS)),
      ]),
    );
  }

  return {
    find,
    async put(address, lookup, result: UpstreamResult, lifetimeMs) {
      const json =
        lookup.version?.endsWith(' writing') || pendingBytes >= MAX_PENDING_BYTES ? undefined : toJson(result);
      if (json !== undefined) {
        pendingBytes += json.length;
        await store(address, lookup, json, lifetimeMs).catch(() => {}); // Without memory to compress it, it isn't stored.
        pendingBytes -= json.length;
      }
    },
    async beginWrite(owner, kinds, maxMs) {
      const id = randomUUID();
      const keys = kinds.map((kind) => stateOf(owner, kind));
      const mark =
        (milliseconds: number): RedisWork<unknown> =>
        async (send) => {
          const deadline = toMilliseconds(await send('TIME')) + milliseconds;
          return Promise.all(
            keys.flatMap(({ writes }) => [
              send('HSET', writes, id, String(Math.ceil(deadline))),
              send('PEXPIRE', writes, String(Math.ceil(milliseconds + UNKNOWN_WRITE_MS))),
            ]),
          );
        };
      const isMarked = await replace(keys, mark(maxMs));
      for (const { version } of isMarked ? [] : keys) {
        unmarked.set(version, (unmarked.get(version) ?? 0) + 1);
      }
      return {
        async end(isUnknown) {
          const unmark: RedisWork<unknown> = (send) => Promise.all(keys.map(({ writes }) => send('HDEL', writes, id)));
          const isEnded = await replace(keys, isUnknown ? mark(unknownWriteMs) : unmark);
          if (!isEnded) {
            miss(keys);
          }
          const release = () => {
            for (const { version } of isMarked ? [] : keys) {
              const count = (unmarked.get(version) ?? 1) - 1;
              if (count > 0) {
                unmarked.set(version, count);
              } else {
                unmarked.delete(version);
              }
            }
          };
          if (isUnknown && !isEnded) {
            setTimeout(release, unknownWriteMs).unref();
          } else {
            release();
          }
        },
      };
    },
    async drop(owner, kinds) {
      const keys = kinds.map((kind) => stateOf(owner, kind));
      const isDropped = await redis.run((send) => send('DEL', ...keys.map(({ version }) => version)));
      if (isDropped === undefined) {
        miss(keys);
      }
    },
    connected: redis.connected,
    stats: () => ({ problem: describeStore(redis.status()) }),
    async [Symbol.asyncDispose]() {
      redis[Symbol.dispose]();
    },
  };
}

/** Reads the state of an owner's kind, and an entry. */
async function readState(
  send: Parameters<RedisWork<unknown>>[0],
  keys: readonly [version: string, epoch: string, entry: string],
  writes: string,
): Promise<State> {
  const [time, values, deadlines] = await Promise.all([send('TIME'), send('MGET', ...keys), send('HVALS', writes)]);
  const now = toMilliseconds(time);
  if (!Array.isArray(values) || !Array.isArray(deadlines)) {
    throw new NotRedisError('unexpected result of a lookup');
  }
  const [version, epoch, value]: unknown[] = values;
  return {
    now,
    version: textOf(version),
    epoch: textOf(epoch),
    isWriting: deadlines.some((deadline) => Number(textOf(deadline)) > now), // A killed process leaves its write behind.
    value: value instanceof Buffer ? value : undefined,
  };
}

const textOf = (value: unknown): string | undefined => (value instanceof Buffer ? value.toString() : undefined);

/** Converts the reply of `TIME`. */
function toMilliseconds(time: unknown): number {
  const [seconds, microseconds] = Array.isArray(time) ? time.map((part) => Number(textOf(part))) : [];
  if (seconds === undefined || microseconds === undefined || Number.isNaN(seconds + microseconds)) {
    throw new NotRedisError('unexpected result of TIME');
  }
  return seconds * 1_000 + Math.floor(microseconds / 1_000);
}

/** Returns the run of the server and the history of its data, which changes when a replica takes over. */
function readHistory(server: unknown, replication: unknown): string {
  const [, run] = /^run_id:(\w+)/m.exec(textOf(server) ?? '') ?? [];
  const [, history] = /^master_replid:(\w+)/m.exec(textOf(replication) ?? '') ?? [];
  if (run === undefined) {
    throw new NotRedisError('unexpected result of INFO');
  }
  return `${run.slice(0, 16)}-${history?.slice(0, 16)}`;
}
