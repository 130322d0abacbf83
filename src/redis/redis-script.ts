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

/** Call of a script. */
export interface ScriptCall<Reply> {
  script: RedisScript<Reply>;
  keys: readonly string[];
  args: readonly RedisValue[];
}

/** Defines a script. */
export const defineScript = <Reply>(
  source: string,
  readReply: RedisScript<Reply>['readReply'],
): RedisScript<Reply> => ({
  source,
  sha1: hash('sha1', source),
  readReply,
});
