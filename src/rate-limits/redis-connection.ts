import type { CommandParser } from '@redis/client';
import { BUCKET_SCRIPT } from './redis-script.ts';

/** Result of the script. */
export interface ScriptReply {
  isGranted: boolean;
  /** Time until the bucket is full, in milliseconds. */
  missingMs: number;
}

/** The package of the Redis client, which only users of Redis install, is missing. */
export class MissingPackageError extends Error {}

/** Connection to Redis that reconnects by itself. */
export interface RedisConnection {
  /** Resolves when the connection is ready for the first time. Rejects if it is closed before. */
  readonly opened: Promise<void>;
  /** Returns whether the connection is ready. */
  isReady(): boolean;
  /** Runs the script. Rejects immediately if there is no connection. Has no timeout. */
  run(key: string, args: string[]): Promise<ScriptReply>;
  /** Returns the code of the last failure, without any part of the URL. */
  lastFailure(): string;
  /** Closes the connection immediately and rejects pending commands. */
  close(): void;
}

interface Client {
  readonly isReady: boolean;
  bucket(key: string, args: string[]): Promise<unknown>;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** Maximum delay before reconnecting. */
const MAX_RECONNECT_DELAY_MS = 1_000;

/** Time without data after which a connection is considered dead. Pings keep a working one busy. */
const SOCKET_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 2_000;

/** Maximum pending commands, which is only reached if Redis hangs. */
const MAX_PENDING = 1_000;

/**
 * Starts to connect.
 *
 * @throws {TypeError} if the URL is invalid; the message doesn't quote it
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function openRedis(url: string): RedisConnection {
  assertRedisUrl(url);
  assertInstalled();
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => {}); // Prevents an unhandled rejection if nobody waits for it.
  let client: Client | undefined;
  let isClosed = false;
  let lastFailure = 'NOT_CONNECTED';
  let isReply: (error: Error) => boolean = () => false;

  /** Loads the package and connects. It is loaded only now, because loading is slow and only needed with Redis. */
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
      RESP: 2, // Sufficient, and supported by every server and proxy.
      maintNotifications: 'disabled',
      scripts: { bucket },
      disableOfflineQueue: true, // Calls made while disconnected are counted by the fallback and must not be counted again.
      commandOptions: { timeout: 0 }, // The caller has its own timer.
      commandsQueueMaxLength: MAX_PENDING,
      pingInterval: PING_INTERVAL_MS,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        reconnectStrategy: (retries) => Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** retries) * (0.5 + Math.random() / 2),
      },
    });
    client = created;
    created.on('error', (error: unknown) => {
      lastFailure = codeOf(error, isReply);
    });
    created.on('ready', resolve);
    created.on('connect', () => {
      if (isClosed) {
        created.destroy(); // destroy() doesn't reach a socket that is still connecting.
      }
    });
    await created.connect();
  }

  open().catch((error: unknown) => {
    lastFailure = codeOf(error, isReply);
  });

  return {
    opened,
    isReady: () => client?.isReady === true,
    async run(key, args) {
      if (client === undefined) {
        throw new Error(lastFailure);
      }
      try {
        return readReply(await client.bucket(key, args));
      } catch (error) {
        if (client.isReady) {
          lastFailure = codeOf(error, isReply); // Without a connection, the reason for the disconnect is more useful.
        }
        throw error;
      }
    },
    lastFailure: () => lastFailure,
    close() {
      isClosed = true;
      reject(new Error('closed'));
      client?.destroy();
    },
  };
}

function assertInstalled(): void {
  try {
    import.meta.resolve('@redis/client');
  } catch {
    throw new MissingPackageError(
      'rate limits in Redis need the package @redis/client. Install it with "npm install @redis/client@6"',
    );
  }
}

function assertRedisUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The Redis URL must look like redis://host:6379 or rediss://user:password@host:6379/0.');
  }
  if (!/^\/?\d{0,4}$/.test(parsed.pathname)) {
    throw new TypeError('The path of the Redis URL must be a database number, such as /0.');
  }
}

/** Parses the result of the script. Throws if the form is unexpected, because the server is not Redis. */
function readReply(reply: unknown): ScriptReply {
  const [granted, missing]: unknown[] = Array.isArray(reply) ? reply : [];
  const missingMs = typeof missing === 'string' ? Number(missing) : Number.NaN;
  if (typeof granted !== 'number' || !Number.isFinite(missingMs)) {
    throw new TypeError('unexpected result of the script');
  }
  return { isGranted: granted === 1, missingMs };
}

/**
 * Returns the code from Node.js (`ECONNREFUSED`) or Redis (`WRONGPASS`, the first word of its errors), or the name of the error's class. It
 * never returns a message, which could contain secrets.
 */
function codeOf(error: unknown, isReply: (error: Error) => boolean): string {
  if (!(error instanceof Error)) {
    return 'UNKNOWN';
  }
  const code: unknown = Reflect.get(error, 'code');
  const ofRedis = isReply(error) ? /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] : undefined;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : (ofRedis ?? error.constructor.name);
}
