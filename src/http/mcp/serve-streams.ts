import { toRequestId } from '../request-id.ts';
import type { McpStreams } from './streams.ts';
import type { CreateToolServer, IdentifiedCaller } from './tool-server.ts';

/** Options of `serveStreams`. */
export interface ServeStreamsOptions extends McpStreams, Pick<IdentifiedCaller, 'identity'> {
  /** Path of the GraphQL endpoint. */
  endpoint: string;
  createToolServer: CreateToolServer;
}

/** Serves one client over streams until one of them ends. */
export async function serveStreams(options: ServeStreamsOptions): Promise<void> {
  const { input, output, authorization, identity, endpoint, createToolServer } = options;
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  input.once('end', resolve).once('close', resolve);
  output.once('close', resolve).once('error', () => resolve());
  const caller = {
    host: undefined,
    endpoint,
    get requestId() {
      return toRequestId(undefined); // A new one for each call.
    },
    header: (name: string) => (name === 'authorization' ? authorization : undefined),
    toFetchRequest: () =>
      new Request(new URL(endpoint, 'http://localhost'), { method: 'POST', headers: { authorization } }),
  };
  const transport = new StdioServerTransport(input, output);
  const connection = serveStdio(() => createToolServer({ caller, identity }), { transport });
  await ended;
  await connection.close();
}
