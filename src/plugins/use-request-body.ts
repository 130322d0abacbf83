import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';
import { isRecord } from '../is-record.ts';
import { CLIENT_CLOSED } from './access-log.ts';
import { ClientClosedError, readText, TooLargeError } from './read-text.ts';

export interface RequestBodyPluginOptions {
  /** The largest request body, in bytes. @default 256 KiB */
  maxBytes?: number;
}

/**
 * Reads POST bodies: a `Content-Length` above the limit is refused before anything is read, a body without one while it is read. Yoga's
 * own limit pipes every body through a stream, which costs more than the rest of a small request.
 */
export function useRequestBody({
  maxBytes = 256 * 1024,
}: RequestBodyPluginOptions = {}): Plugin<object, ServerContext> {
  const tooLarge = () =>
    new GraphQLError(`The request is larger than ${maxBytes} bytes; send less at once.`, {
      // The rest of the body will not be read, so the connection cannot be used again.
      extensions: { code: 'PAYLOAD_TOO_LARGE', http: { status: 413, headers: { connection: 'close' } } },
    });

  async function readAll(request: Request): Promise<string> {
    try {
      return await readText(request, maxBytes);
    } catch (error) {
      if (error instanceof TooLargeError) {
        throw tooLarge();
      }
      throw error instanceof ClientClosedError
        ? new GraphQLError(error.message, {
            extensions: { code: CLIENT_CLOSED.code, http: { status: CLIENT_CLOSED.status } },
          })
        : error;
    }
  }

  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext: { body, bodyText } }) {
      if (body !== undefined) {
        setRequestParser(() => toParams(body));
      } else if (request.method === 'POST') {
        setRequestParser(async () => toParams(parseBody(bodyText ?? (await readAll(request)))));
      } else if (requestParser !== undefined) {
        setRequestParser(async (given) => orBadRequest(() => requestParser(given)));
      }
    },
  };
}

/** The parameters of a GraphQL request; Yoga checks what is in them. */
function toParams(body: unknown): Record<string, unknown> {
  if (Array.isArray(body)) {
    throw badRequest('Batches are not served: send one operation a request.');
  }
  if (!isRecord(body)) {
    throw badRequest('The body must be a JSON object with a "query".');
  }
  return { ...body };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
}

/** Parsing the parameters of a URL throws a bare SyntaxError for variables that are not JSON. */
async function orBadRequest<T>(parse: () => T | Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest('The variables in the URL are not valid JSON.') : error;
  }
}

const badRequest = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
