import type { CommandParser } from '@redis/client';
import { BUCKET_SCRIPT } from './redis-script.ts';

/** What the script answers. */
export interface ScriptReply {
  isGranted: boolean;
  /** What is missing now, in milliseconds. */
  missingMs: number;
}

/** A connection to Redis that is made, and made again, by itself. */
export interface RedisConnection {
  /** Settles when it is made for the first time; rejects when it is ended before. */
  readonly opened: Promise<void>;
  /** Whether it can be used now. */
  isReady(): boolean;
  /** Runs the script. Rejects at once while there is no connection; does not time out. */
  run(key: string, args: string[]): Promise<ScriptReply>;
  /** Why there was no connection, or none that works, the last time: a code, nothing of the address. */
  trouble(): string;
  /** Ends it at once; what waits is rejected. */
  close(): void;
}

interface Client {
  readonly isReady: boolean;
  bucket(key: string, args: string[]): Promise<unknown>;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** The longest pause before the next attempt. */
const MAX_PAUSE_MS = 1_000;

/** A connection over which nothing comes for this long is dead; it is asked in between. */
const SILENCE_MS = 5_000;
const PING_EVERY_MS = 2_000;

/** Answers that are waited for at most; only a Redis that hangs comes so far. */
const MAX_PENDING = 1_000;

/** Begins to connect; throws a `TypeError` without the address where it is none. */
export function openRedis(url: string): RedisConnection {
  assertRedisUrl(url);
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => {}); // It may be that nobody waits for it.
  let client: Client | undefined;
  let isClosed = false;
  let trouble = 'NOT_CONNECTED';
  let isReply: (error: Error) => boolean = () => false;

  /** The package is loaded here: it takes its time, and only who has a Redis needs it. */
  async function open(): Promise<void> {
    const { createClient, defineScript, ErrorReply } = await import('@redis/client');
    isReply = (error) => error instanceof ErrorReply;
    if (isClosed) {
      return;
    }
    const bucket = defineScript({
      SCRIPT: BUCKET_SCRIPT,
      NUMBER_OF_KEYS: 1,
      parseCommand(parser: CommandParser, key: string, args: string[]) {
        parser.pushKey(key);
        parser.push(...args);
      },
      transformReply: (reply: unknown) => reply,
    });
    const created = createClient({
      url,
      RESP: 2, // All that is needed, and every server and proxy speaks it.
      maintNotifications: 'disabled',
      scripts: { bucket },
      disableOfflineQueue: true, // What was asked while it was away is answered elsewhere, and must not be counted later.
      commandOptions: { timeout: 0 }, // Whoever asks has a timer of its own.
      commandsQueueMaxLength: MAX_PENDING,
      pingInterval: PING_EVERY_MS,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (retries) => Math.min(MAX_PAUSE_MS, 50 * 2 ** retries) * (0.5 + Math.random() / 2),
      },
    });
    client = created;
    created.on('error', (error: unknown) => {
      trouble = codeOf(error, isReply);
    });
    created.on('ready', resolve);
    created.on('connect', () => {
      if (isClosed) {
        created.destroy(); // A socket that was being made then is not known to the client before now.
      }
    });
    await created.connect();
  }

  open().catch((error: unknown) => {
    trouble = codeOf(error, isReply);
  });

  return {
    opened,
    isReady: () => client?.isReady === true,
    async run(key, args) {
      if (client === undefined) {
        throw new Error(trouble);
      }
      try {
        return readReply(await client.bucket(key, args));
      } catch (error) {
        if (client.isReady) {
          trouble = codeOf(error, isReply); // Without a connection, the reason for that says more.
        }
        throw error;
      }
    },
    trouble: () => trouble,
    close() {
      isClosed = true;
      reject(new Error('closed'));
      client?.destroy();
    },
  };
}

function assertRedisUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The address of Redis must look like redis://host:6379 or rediss://user:password@host:6379/0.');
  }
  if (!/^\/?\d{0,4}$/.test(parsed.pathname)) {
    throw new TypeError('The path of the address of Redis must be the number of a database.');
  }
}

/** Throws where something that is not Redis answers. */
function readReply(reply: unknown): ScriptReply {
  const [granted, missing]: unknown[] = Array.isArray(reply) ? reply : [];
  const missingMs = typeof missing === 'string' ? Number(missing) : Number.NaN;
  if (typeof granted !== 'number' || !Number.isFinite(missingMs)) {
    throw new TypeError('the script answered something else');
  }
  return { isGranted: granted === 1, missingMs };
}

/** Of Node (`ECONNREFUSED`), of Redis (`WRONGPASS`, by its protocol the first word of an error), or the error's class. Sentences may quote anything. */
function codeOf(error: unknown, isReply: (error: Error) => boolean): string {
  if (!(error instanceof Error)) {
    return 'UNKNOWN';
  }
  const code: unknown = Reflect.get(error, 'code');
  const ofRedis = isReply(error) ? /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] : undefined;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : (ofRedis ?? error.constructor.name);
}
