import type { Readable, Writable } from 'node:stream';

/** Streams to one client, such as standard input and output. Part of the package's types, so it must not need the types of an optional package. */
export interface McpStreams {
  input: Readable;
  output: Writable;
  /** Credential of the client, as in the header `Authorization`. */
  authorization: string;
  /** Ends the connection when it is aborted, and cancels calls in flight. @default none */
  signal?: AbortSignal | undefined;
}
