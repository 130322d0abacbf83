import { type GraphQLSchema, isEnumType, isInterfaceType } from 'graphql';
import type { HandleRequest } from '../request.ts';
import { createMcpRoute, MCP_HEADERS, type McpRouteOptions } from './mcp-route.ts';
import { serveStreams } from './serve-streams.ts';
import type { McpStreams } from './streams.ts';
import { createToolServers, type ToolServerOptions } from './tool-server.ts';

/** Options of `createMcp`. */
export interface McpOptions extends Omit<McpRouteOptions, 'createToolServer'>, Omit<ToolServerOptions, 'failures'> {
  schema: GraphQLSchema;
}

/** Tools for AI agents, over HTTP and over streams. */
export interface Mcp {
  paths: ReadonlySet<string>;
  /** Request headers of the protocol. */
  headers: readonly string[];
  route: HandleRequest;
  /**
   * Serves one client over streams until one of them ends, or the signal is aborted.
   *
   * @throws {Refusal} UNAUTHENTICATED if the credential is not accepted
   */
  serve(streams: McpStreams): Promise<void>;
}

/** Creates the tools. Both ways to call them differ only in how messages arrive. */
export function createMcp({ schema, ...options }: McpOptions): Mcp {
  const createToolServer = createToolServers({ ...options, failures: failuresOf(schema) });
  const { paths, endpoint, authenticate, logger } = options;
  return {
    paths,
    headers: MCP_HEADERS,
    route: createMcpRoute({ ...options, createToolServer }),
    async serve(streams) {
      const identity = await authenticate(streams.authorization);
      await serveStreams({ ...streams, identity, endpoint, createToolServer, logger });
    },
  };
}

/** Returns the types of mutation results that are failures, and their codes. */
function failuresOf(schema: GraphQLSchema): ReadonlySet<unknown> {
  const codes = schema.getType('MutationErrorCode');
  const error = schema.getType('MutationError');
  return new Set(
    [
      ...(isEnumType(codes) ? codes.getValues() : []),
      ...(isInterfaceType(error) ? schema.getPossibleTypes(error) : []),
    ].map(({ name }) => name),
  );
}
