// Caches responses in Redis, encrypted, for all processes and replicas.

import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createRedis, describeStore, notRedis, type RedisStoreOptions, type SendCommand } from '../../redis/redis.ts';
import type { StoreStats, UpstreamResult } from '../calls.ts';
import { decideLookup, type HeldState, versionIn } from './decide-lookup.ts';
import { createOwnerKeys, sealResult, toJson, unsealResult } from './sealing.ts';
import {
  type CachedKind,
  type CacheStore,
  type EntryAddress,
  type Lookup,
  OpenWrites,
  type Owner,
  type WriteInProgress,
} from './store.ts';

export interface RedisCacheStoreOptions extends RedisStoreOptions {
  /** Secret from which the keys of all encryption are derived. */
  secret: string;
}

/** Time after which the state of an owner that nobody uses is forgotten, in milliseconds. Entries live for two days at most. */
const STATE_MS = 2 * 86_400_000;

/** Time after which the writes of a killed process are forgotten, in milliseconds. No operation takes longer. */
const MAX_WRITE_MS = 600_000;

/** Maximum versions that a process knows. */
const MAX_KNOWN = 20_000;

/** Maximum versions to replace once Redis is back. Beyond it, only known ones are noted; of others, no entry from before is used. */
const MAX_MISSED = 10_000;

/** Maximum size of the responses that are being compressed or sent, in bytes. Beyond it, responses are not stored. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** Names of an owner's state of one kind. */
interface OwnerState {
  readonly version: string;
  /** Hash of the writes in progress: their deadlines, on the clock of Redis. */
  readonly writes: string;
  /** Exists while a write with an unknown outcome counts as being in progress. */
  readonly unknown: string;
}

/**
 * Store in Redis that workers and replicas share.
 *
 * Redis holds neither credentials nor ids in plain text, and values can only be read with the secret and the credential. A client that can write to
 * Redis can remove entries or put back older ones with their state, but not move an entry to another path, credential or upstream.
 *
 * No entry is returned that is older than a write that this process has sent. The same holds for writes of other processes, unless Redis doesn't
 * respond to the process that writes: the others may use older entries until it reaches Redis again, or until the entries expire if it never does.
 * A Redis server that was restarted or replaced by its replica may have lost writes, so entries from before are not used.
 *
 * Commands of one turn run in their order, so no transaction is needed: a write counts as being in progress from before its version is replaced, before
 * it is sent, until after it is replaced again.
 *
 * An example, with two processes A and B, and one read of one credential. The columns are the keys in Redis after each step: the epoch of all owners,
 * the state of the kind, and the version in the header of the entry. The last one is what `decideLookup` says of the next lookup of either process.
 *
 * | step                                                 | epoch | version | writes | unknown | entry | next lookup                  |
 * | ---------------------------------------------------- | ----- | ------- | ------ | ------- | ----- | ---------------------------- |
 * | another owner has written                            | e1    |         |        |         |       | `new`                        |
 * | A reads, and stores the response                     | e1    | v1      |        |         | v1    | `current`, finds the entry   |
 * | B begins a write                                     | e2    | v2      | w1     |         | v1    | `writing`                    |
 * | B ends it                                            | e3    | v3      |        |         | v1    | `current`, finds nothing     |
 * | A stores what it has read since before the write     | e3    | v3      |        |         | v1    | `current`, finds nothing     |
 * | A reads again                                        | e3    | v3      |        |         | v3    | `current`, finds the entry   |
 * | B begins and ends a write, but can't reach Redis     | e3    | v3      |        |         | v3    | A finds it; B: `unavailable` |
 * | B reaches Redis again, and replaces what it missed   | e4    | v4      |        |         | v3    | `current`, finds nothing     |
 * | B begins a write, and ends it without a response     | e6    | v6      |        | 1       | v3    | `writing`, for 30 seconds    |
 * | 30 seconds later, the service rejects the credential | e7    |         |        |         | v3    | `new`                        |
 * | Redis restarts with a copy from before               | e3    | v3      |        |         | v3    | `current`, finds nothing     |
 */
export class RedisCacheStore implements CacheStore {
  readonly #redis: ReturnType<typeof createRedis>;
  readonly #keysOf: ReturnType<typeof createOwnerKeys>;
  readonly #prefix: string;
  /** Replaced by every write of anybody. A first version is only as good as a lookup that no write has followed. */
  readonly #epochKey: string;
  /** Versions that writes should have replaced while Redis didn't respond. */
  readonly #missed = new Set<string>();
  #misses = 0;
  /** Versions that this process has found, with the time from which it uses their entries. Keys that the service never accepted have none. */
  readonly #known = new LRUCache<string, number>({ max: MAX_KNOWN });
  /** Time from which this process uses the entries of other versions. It may not have noted all their writes. */
  #othersFrom = 0;
  /** Writes in progress that Redis doesn't know. */
  readonly #unmarked = new OpenWrites();
  /** Server and the history of its data: another one has no usable entries. */
  #history = '';
  #pendingBytes = 0;

  /**
   * @throws {SecretError} if the URL or the certificates are invalid
   * @throws {SetupError} if the Redis client is not installed
   */
  constructor(options: RedisCacheStoreOptions) {
    this.#keysOf = createOwnerKeys(options.secret);
    this.#prefix = options.prefix;
    this.#epochKey = `${options.prefix}epoch`;
    this.#redis = createRedis(options, {
      messages: { whileDown: 'reads are not cached', onceUp: 'Reads are cached.' },
      trial: (send) => this.#try(send),
      onUp: () => void this.#replaceMissed(),
    });
  }

  connected(): Promise<void> {
    return this.#redis.connected();
  }

  stats(): StoreStats {
    return { problem: describeStore(this.#redis.status()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis[Symbol.dispose]();
  }

  async find(address: EntryAddress): Promise<Lookup> {
    const { version: versionKey, writes, unknown } = this.#stateOf(address.owner, address.kind);
    const key = this.#entryKeyOf(address);
    const held = await this.#redis.run((send) => readState(send, [versionKey, this.#epochKey, unknown, key], writes));
    const usableFrom = this.#known.get(versionKey) ?? this.#othersFrom;
    if (held?.version !== undefined && usableFrom < Infinity) {
      this.#known.set(versionKey, usableFrom);
    }
    const hasMissedWrite = this.#missed.has(versionKey) || this.#unmarked.has(versionKey, performance.now());
    const { entryAt, ...lookup } = decideLookup(held, { history: this.#history, hasMissedWrite, usableFrom });
    if (held === undefined || entryAt === undefined) {
      return { ...lookup, entry: undefined };
    }
    const result = await unsealResult(held.sealed, this.#keysOf(address.owner).encryption, `${key} ${lookup.version}`);
    return { ...lookup, entry: result && { result, ageMs: held.now - entryAt } };
  }

  async put(address: EntryAddress, lookup: Lookup, result: UpstreamResult, lifetimeMs: number): Promise<void> {
    const isStored = (lookup.state === 'current' || lookup.state === 'new') && this.#pendingBytes < MAX_PENDING_BYTES;
    const json = isStored ? toJson(result) : undefined;
    if (json !== undefined) {
      this.#pendingBytes += json.length;
      await this.#store(address, lookup, json, lifetimeMs).catch(() => {}); // Without memory to compress it, it isn't stored.
      this.#pendingBytes -= json.length;
    }
  }

  async beginWrite(owner: Owner, kinds: readonly CachedKind[], maxMs: number): Promise<WriteInProgress> {
    const id = randomUUID();
    const states = kinds.map((kind) => this.#stateOf(owner, kind));
    const versions = states.map(({ version }) => version);
    const isMarked = await this.#redis.run(async (send) => {
      const deadline = Math.ceil(toMilliseconds(await send('TIME')) + maxMs);
      return Promise.all([
        // First, so that nobody gets a version that is valid after the write without seeing the write.
        ...states.flatMap(({ writes }) => [
          send('HSET', writes, id, String(deadline)),
          send('PEXPIRE', writes, String(MAX_WRITE_MS)),
        ]),
        ...this.#replace(send, versions),
      ]);
    });
    if (!isMarked) {
      this.#unmarked.begin(versions, id, performance.now(), maxMs);
    }
    return { end: (unknownMs) => this.#endWrite(states, id, unknownMs) };
  }

  async drop(owner: Owner, kinds: readonly CachedKind[]): Promise<void> {
    const versions = kinds.map((kind) => this.#stateOf(owner, kind).version);
    const isDropped = await this.#redis.run((send) =>
      Promise.all([
        send('SET', this.#epochKey, randomUUID()), // First, so that a read in flight sets no first version.
        send('DEL', ...versions),
      ]),
    );
    if (isDropped === undefined) {
      this.#miss(versions);
    }
  }

  async #endWrite(states: readonly OwnerState[], id: string, unknownMs: number): Promise<void> {
    const versions = states.map(({ version }) => version);
    const isEnded = await this.#redis.run((send) =>
      Promise.all([
        ...(unknownMs > 0 ? states.map(({ unknown }) => send('SET', unknown, '1', 'PX', String(unknownMs))) : []),
        ...this.#replace(send, versions),
        ...states.map(({ writes }) => send('HDEL', writes, id)),
      ]),
    );
    if (!isEnded) {
      this.#miss(versions);
    }
    this.#unmarked.end(versions, id, performance.now(), isEnded ? 0 : unknownMs);
  }

  #stateOf(owner: Owner, kind: CachedKind): OwnerState {
    const { id } = this.#keysOf(owner);
    const keyOf = (name: string) => `${this.#prefix}${name}:${id}:${kind}`;
    return { version: keyOf('version'), writes: keyOf('writes'), unknown: keyOf('unknown') };
  }

  #entryKeyOf({ owner, kind, read }: EntryAddress): string {
    return `${this.#prefix}entry:${this.#keysOf(owner).digestOf(`${kind} ${read}`)}`;
  }

  /** Replaces versions that exist. Others have no entries, and there is no limit to the keys that the service never accepted. */
  #replace(send: SendCommand, versions: readonly string[]) {
    return [
      send('SET', this.#epochKey, randomUUID()), // Before the versions: see `#store`.
      ...versions.map((version) => send('SET', version, randomUUID(), 'PX', String(STATE_MS), 'XX')),
    ];
  }

  async #store(address: EntryAddress, lookup: Lookup, json: Buffer, lifetimeMs: number): Promise<void> {
    const { version: versionKey } = this.#stateOf(address.owner, address.kind);
    const key = this.#entryKeyOf(address);
    const version = lookup.state === 'new' ? await this.#setFirst(versionKey, lookup) : lookup.version;
    const { encryption } = this.#keysOf(address.owner);
    const sealed = version === undefined ? undefined : await sealResult(json, encryption, `${key} ${version}`);
    if (sealed === undefined) {
      return;
    }
    const value = Buffer.concat([Buffer.from(`${lookup.at} ${version}\n`), sealed]);
    await this.#redis.run((send) =>
      Promise.all([
        send('SET', key, value, 'PXAT', String(Math.ceil(lookup.at + lifetimeMs))),
        send('PEXPIRE', versionKey, String(STATE_MS)),
      ]),
    );
  }

  /**
   * Sets the first version of a kind, and returns it. Returns undefined if a write has replaced the epoch since the lookup: that write's version may have
   * been evicted.
   */
  async #setFirst(versionKey: string, lookup: Lookup): Promise<string | undefined> {
    const [, first, epoch] =
      (await this.#redis.run((send) =>
        Promise.all([
          send('SET', versionKey, randomUUID(), 'PX', String(STATE_MS), 'NX'),
          send('GET', versionKey), // Another read may have set it.
          send('GET', this.#epochKey), // After the version, because a write replaces them in the other order.
          send('SET', this.#epochKey, randomUUID(), 'NX'),
        ]),
      )) ?? [];
    const [version, current] = [textOf(first), textOf(epoch)];
    const isUnwritten = current !== undefined && lookup.version === versionIn(this.#history, undefined, current);
    return version !== undefined && isUnwritten ? versionIn(this.#history, version) : undefined;
  }

  async #try(send: SendCommand): Promise<void> {
    const [server, replication] = await Promise.all([
      send('INFO', 'server'),
      send('INFO', 'replication'),
      send('SET', `${this.#prefix}trial`, '1', 'PX', '1'),
    ]);
    this.#history = readHistory(server, replication);
  }

  async #replaceMissed(): Promise<void> {
    const versions = [...this.#missed];
    const before = this.#misses;
    const now = await this.#redis.run(async (send) => {
      const [time] = await Promise.all([send('TIME'), ...this.#replace(send, versions)]);
      return toMilliseconds(time);
    });
    if (now !== undefined && this.#misses > before) {
      await this.#replaceMissed(); // Writes have ended meanwhile.
    } else if (now !== undefined) {
      this.#missed.clear();
      this.#othersFrom = Math.min(this.#othersFrom, now);
    }
  }

  /** Notes that a write should have replaced versions. */
  #miss(versions: readonly string[]): void {
    this.#misses += 1;
    for (const version of versions) {
      if (this.#known.has(version) || this.#missed.size < MAX_MISSED) {
        this.#missed.add(version);
      } else {
        this.#othersFrom = Infinity; // Until Redis is back, and tells its time.
      }
    }
  }
}

/** Reads an owner's state of one kind, and the time of Redis in milliseconds. */
async function readState(
  send: SendCommand,
  keys: readonly [version: string, epoch: string, unknown: string, entry: string],
  writes: string,
): Promise<HeldState & { sealed: Buffer }> {
  const [time, values, deadlines] = await Promise.all([send('TIME'), send('MGET', ...keys), send('HVALS', writes)]);
  const now = toMilliseconds(time);
  if (!Array.isArray(values) || !Array.isArray(deadlines)) {
    throw notRedis();
  }
  const [version, epoch, unknown, value]: unknown[] = values;
  const entry = value instanceof Buffer ? value : Buffer.alloc(0);
  const end = entry.indexOf('\n');
  return {
    now,
    version: textOf(version),
    epoch: textOf(epoch),
    isWriting: unknown instanceof Buffer || deadlines.some((deadline) => Number(textOf(deadline)) > now), // A killed process leaves its write behind.
    header: entry.toString('latin1', 0, end),
    sealed: entry.subarray(end + 1),
  };
}

const textOf = (value: unknown): string | undefined => (value instanceof Buffer ? value.toString() : undefined);

/** Converts the reply of `TIME`. */
function toMilliseconds(time: unknown): number {
  const [seconds, microseconds] = Array.isArray(time) ? time.map((part) => Number(textOf(part))) : [];
  if (seconds === undefined || microseconds === undefined || Number.isNaN(seconds + microseconds)) {
    throw notRedis();
  }
  return seconds * 1_000 + Math.floor(microseconds / 1_000);
}

/** Returns the run of the server and the history of its data, which changes when a replica takes over. */
function readHistory(server: unknown, replication: unknown): string {
  const [, run] = /^run_id:(\w+)/m.exec(textOf(server) ?? '') ?? [];
  const [, history] = /^master_replid:(\w+)/m.exec(textOf(replication) ?? '') ?? [];
  if (run === undefined) {
    throw notRedis();
  }
  return `${run.slice(0, 16)}-${history?.slice(0, 16)}`;
}
