// Explains why a part of the example could not start.

/** A part could not start or exited on its own; the message is one sentence for the user. */
export class StartError extends Error {}

/** Says which option helps when a port is taken. */
export function explainListenError(error: unknown, what: string, port: number, option: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EADDRINUSE'
    ? new StartError(
        `Port ${port} for ${what} is in use. Stop the program that listens there, or choose another port with ${option}.`,
        { cause: error },
      )
    : error;
}
