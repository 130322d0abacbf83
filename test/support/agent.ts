// Connects AI agents to a gateway, and sends messages of their protocol.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { StartedGateway } from './gateway.ts';

/** Eras of the protocol: with a handshake, and with the version in each request. */
export const ERAS = ['legacy', 'auto'] as const;

/** Methods that list what the gateway doesn't have, with the member of their result. Some clients call them in any case. */
export const EMPTY_LISTS = [
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** Connects the official client, as in an AI agent, to the tools of a gateway. */
export async function connectAgent(
  gateway: Pick<StartedGateway, 'url'>,
  authorization: string,
  {
    era = 'legacy',
    headers = {},
    path = '/mcp',
    fetch,
  }: {
    era?: (typeof ERAS)[number];
    headers?: Record<string, string>;
    path?: string;
    fetch?: typeof globalThis.fetch;
  } = {},
) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  const transport = new StreamableHTTPClientTransport(new URL(path, gateway.url), {
    requestInit: { headers: { authorization, ...headers } },
    ...(fetch !== undefined && { fetch }),
  });
  // Its type has an optional member that may be undefined, unlike that of the interface.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return {
    client,
    /** Returns the names of the tools it sees. */
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    /** Calls a tool, and returns its text, structured result and whether it failed. */
    async call(name: string, args: Record<string, unknown> = {}) {
      const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return { text, structured: structuredContent, isError };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Sends a message to the tools of a gateway without the client. Headers that are empty are left out. */
export function postToTools(
  { url }: Pick<StartedGateway, 'url'>,
  message: unknown,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Response> {
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'ApiKey key-of-a-server',
    ...headers,
  };
  return fetch(new URL('/mcp', url), {
    method: 'POST',
    body: JSON.stringify(message),
    ...init,
    headers: Object.entries(all).filter(([, value]) => value !== ''),
  });
}

/** Documents of tools. */
export const TOOLS = {
  Groups: `query Groups { notificationGroups { id name } }`,
  Flow: `
    # The heading of the file, which is no description.

    # Finds a workflow.
    # Its id and its trigger's identifier work alike.
    query Flow($id: ID!) { workflow(idOrIdentifier: $id) { name } }`,
  AddFeed: `mutation AddFeed($input: CreateFeedInput!) {
    createFeed(input: $input) { ... on CreateFeedSuccess { feed { name } } ... on MutationError { code message } } }`,
  DropGroup: `mutation DropGroup($id: ID!) { deleteNotificationGroup(input: { id: $id }) { __typename } }`,
  DropFeed: `mutation DropFeed($id: ID!) { deleteFeed(input: { id: $id }) { __typename } }`,
};

/** Settings of these tools. `DropFeed` is no tool, because it is not listed. */
export const MCP = { manifest: TOOLS, mutations: ['AddFeed', 'DropGroup'] };
