import { hash } from 'node:crypto';

/** Argument of a script, or part of its result. */
export type RedisValue = string | Buffer;

/** Lua script that Redis runs atomically. */
export interface RedisScript<Reply> {
  readonly source: string;
  /** Name of the script for Redis, which keeps it. */
  readonly sha1: string;
  /** Parses the result, in which texts are buffers. Throws `NotRedisError` if the form is unexpected. */
  readonly readReply: (reply: unknown) => Reply;
}

/** Sends a command. Texts in its reply are buffers. Commands that are sent in one turn run in their order. */
export type SendCommand = (...args: readonly RedisValue[]) => Promise<unknown>;

/** Commands that lead to one result. */
export type RedisWork<Reply> = (send: SendCommand) => Promise<Reply>;

/** Returns the work that runs a script. */
export const runScript =
  <Reply>(
    { source, sha1, readReply }: RedisScript<Reply>,
    keys: readonly string[],
    args: readonly RedisValue[],
  ): RedisWork<Reply> =>
  async (send) => {
    const parameters = [String(keys.length), ...keys, ...args];
    const reply = await send('EVALSHA', sha1, ...parameters).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT ')) {
        return send('EVAL', source, ...parameters); // Redis keeps the script from now on.
      }
      throw error;
    });
    return readReply(reply);
  };

/** Defines a script. */
export const defineScript = <Reply>(
  source: string,
  readReply: RedisScript<Reply>['readReply'],
): RedisScript<Reply> => ({
  source,
  sha1: hash('sha1', source),
  readReply,
});
