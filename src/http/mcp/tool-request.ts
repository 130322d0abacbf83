import type { Tool } from '../../graphql/tools/tool.ts';
import { refuse } from '../../settings/refuse.ts';
import type { Signal } from '../../upstream/transport/signal.ts';
import type { IncomingRequest } from '../request.ts';
import { bodyTooLarge } from '../request-body.ts';
import { REQUEST_ID } from '../request-id.ts';
import { findJsonProblem } from './json-problem.ts';

/** Caller of a tool: the request that contains the call. */
export type ToolCaller = Pick<IncomingRequest, 'host' | 'header' | 'toFetchRequest'> & {
  /** Path of the GraphQL endpoint, with the prefix of the upstream that the caller selected. */
  readonly endpoint: string;
  /** Id of the request that contains the call. */
  readonly requestId: string;
  /** Called for each call of a tool, which then has a log line of its own. @default none */
  onCall?(): void;
};

/** Call of a tool. */
export interface ToolCall {
  tool: Tool;
  args: Readonly<Record<string, unknown>>;
  caller: ToolCaller;
  /** Aborted when the call is cancelled. */
  signal: Signal;
}

/** Headers of the GraphQL request, which describe another body than the caller's. */
const OWN_HEADERS: Readonly<Record<string, string | undefined>> = {
  accept: 'application/json',
  'content-type': 'application/json',
  'content-length': undefined,
  'content-encoding': undefined,
};

/** GraphQL request that a call of a tool stands for. It takes the same path through the pipeline as any other. */
export class ToolRequest implements IncomingRequest {
  readonly method = 'POST';
  readonly #call: ToolCall;
  readonly #requestId: string;

  constructor(call: ToolCall) {
    this.#call = call;
    this.#requestId = call.caller.requestId;
  }

  get target(): string {
    return this.#call.caller.endpoint;
  }

  get host(): string | undefined {
    return this.#call.caller.host;
  }

  get signal(): Signal {
    return this.#call.signal;
  }

  header(name: string): string | undefined {
    if (name === REQUEST_ID) {
      return this.#requestId;
    }
    return Object.hasOwn(OWN_HEADERS, name) ? OWN_HEADERS[name] : this.#call.caller.header(name);
  }

  /** Rejects unknown arguments too, because GraphQL ignores unknown variables. */
  async body(maxBytes: number): Promise<string> {
    const { tool, args } = this.#call;
    const known = Object.keys(tool.inputSchema.properties);
    const unknown = Object.keys(args).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const list = known.length === 0 ? 'This tool takes none.' : `Use only ${known.join(', ')}.`;
      throw refuse('BAD_USER_INPUT', `Unknown argument "${unknown.slice(0, 100)}". ${list}`);
    }
    const problem = findJsonProblem(args);
    if (problem !== undefined) {
      throw refuse('BAD_USER_INPUT', `The value of the arguments ${problem}.`);
    }
    const body = JSON.stringify({ documentId: tool.hash, variables: args });
    if (Buffer.byteLength(body) > maxBytes) {
      throw bodyTooLarge(maxBytes);
    }
    return body;
  }

  toFetchRequest(): Request {
    return this.#call.caller.toFetchRequest();
  }
}
