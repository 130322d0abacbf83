// Runs the operations of docs/data-protection.md in a gateway of this process, so that policies, refusals and the audit log are those of requests.

import { z } from 'zod';
import { buildGateway, type Gateway } from '../../../../src/gateway.ts';
import { isTemporaryCode } from '../../../../src/upstream/errors.ts';
import type { CommandLine, Process } from '../command.ts';
import { loadModules } from '../config/load-modules.ts';
import { rejectProblems } from '../config/problem.ts';
import { SETTINGS_TABLE } from '../config/settings.ts';
import { findTarget } from '../find-service.ts';
import { Pace, type PaceOptions, readPace } from '../import/pace.ts';
import { createNoteLogger, printNote, stopAtSignals } from '../import/report.ts';
import { ImportError } from '../import/results.ts';

/** Settings whose defaults count, because the configured ones are limits and rules for clients of the gateway. */
const OF_CLIENTS = SETTINGS_TABLE.pick({
  clients: true,
  trustedDocuments: true,
  rateLimits: true,
  federation: true,
  graphiql: true,
  maxDepth: true,
  maxRootFields: true,
  maxFields: true,
  maxUpstreamCalls: true,
  maxInFlightRequests: true,
});

/** Modules whose operations are run. */
const MODULES = ['inbox', 'messages', 'subscribers', 'topics'].map((name) => `notigraph/modules/${name}`);

/** Largest response of the gateway. The limit of the service's responses is that of the configuration. */
const MAX_RESPONSE_BYTES = 1024 ** 3;

/** Maximum length of the id of a request. */
const MAX_REQUEST_ID = 128;

/** Tries after which an operation has failed although the service works. */
const MAX_TRIES = 5;

/** Codes of failures that every other operation would have too, with what to do. */
const FATAL: ReadonlyMap<string, string> = new Map([
  ['UNAUTHENTICATED', 'Correct the API key'],
  ['AUDIT_UNAVAILABLE', 'Correct audit.to, so that lines can be written'],
]);

const ERROR = z.object({
  message: z.string(),
  extensions: z.object({
    code: z.string(),
    retryAfterSeconds: z.number().optional(),
    outcome: z.string().optional(),
    upstream: z.object({ status: z.number().optional() }).optional(),
  }),
});

const RESPONSE = z.object({ data: z.unknown(), errors: z.array(ERROR).nonempty().optional() });

const WRITTEN = z.object({
  result: z.object({ __typename: z.string(), code: z.string().optional(), message: z.string().optional() }),
});

const PROBE = '{ notificationGroups { id } }';

/** An operation that failed for a reason that may concern only its person. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: string;
  /** Whether a write of it may have been applied. */
  readonly isUnknown: boolean;

  constructor(code: string, message: string, isUnknown: boolean) {
    super(`${message} (${code})`);
    this.code = code;
    this.isUnknown = isUnknown;
  }
}

/** Operations with one API key, one after the other. */
export class Operations {
  readonly pace: Pace;
  readonly #gateway: Gateway;
  readonly #authorization: string;
  readonly #command: string;
  readonly #stopping: AbortSignal;

  constructor(gateway: Gateway, authorization: string, options: PaceOptions) {
    this.pace = new Pace(options);
    this.#gateway = gateway;
    this.#authorization = authorization;
    this.#command = options.words.command;
    this.#stopping = options.stopping;
  }

  /**
   * Reads from the service, again after temporary failures.
   *
   * @param schema form of the data
   * @param id whom it is about. The service and the audit log have it in the id of the request
   * @throws {OperationError} if it fails although the service works
   * @throws {ImportError} if no operation can succeed, or the command is stopping
   */
  async read<Data>(query: string, schema: z.ZodType<Data>, variables: object, id: string): Promise<Data> {
    return schema.parse((await this.#run(query, variables, id)).data);
  }

  /** Runs an operation. Returns its data, and whether a write of an earlier try may have been applied. */
  async #run(query: string, variables: object, id: string): Promise<{ data: unknown; isUnknown: boolean }> {
    let isUnknown = false;
    for (let tries = 0, failures = 0; ; tries += 1) {
      const { data, errors: [error] = [] } = await this.#send(query, variables, id);
      if (error === undefined) {
        this.pace.answered();
        return { data, isUnknown };
      }
      const { message, extensions } = error;
      const { code, outcome, upstream } = extensions;
      const advice = FATAL.get(code);
      if (advice !== undefined) {
        throw new ImportError(`${advice}: ${message} (${code})`);
      }
      isUnknown ||= outcome === 'UNKNOWN';
      const isTemporary = isTemporaryCode(code);
      const isRepeated = isTemporary || Number(upstream?.status) >= 500;
      // A record that breaks connections is no outage. Twice, because an outage can end between the two reads.
      const isAnswered = !isTemporary || (tries >= MAX_TRIES - 1 && code !== 'RATE_LIMITED' && (await this.#answers()));
      failures += Number(isAnswered);
      if (isAnswered) {
        this.pace.answered();
      }
      if (isAnswered && (!isRepeated || failures >= (isTemporary ? 2 : MAX_TRIES))) {
        throw new OperationError(code, message, isUnknown);
      }
      await this.pace.backOff(extensions, message, tries);
    }
  }

  /**
   * Runs a mutation whose field is `result`, again after temporary failures: what it deletes is then gone, which is no failure.
   *
   * @throws {OperationError | ImportError} as `read` does
   */
  async write(mutation: string, variables: object, id: string): Promise<void> {
    const { data, isUnknown } = await this.#run(mutation, variables, id);
    const { result } = WRITTEN.parse(data);
    if (result.code !== undefined && result.code !== 'NOT_FOUND') {
      throw new OperationError(result.code, result.message ?? '', isUnknown);
    }
  }

  async #send(query: string, variables: object, id: string): Promise<z.output<typeof RESPONSE>> {
    const name = /^[\w.:-]+$/.test(id) ? id : Buffer.from(id).toString('base64url'); // A header can't have every id.
    if (!(await this.pace.turn())) {
      this.#stopping.throwIfAborted();
    }
    const response = await this.#gateway.fetch(this.#gateway.endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: this.#authorization,
        'x-request-id': `${this.#command}-${name}`.slice(0, MAX_REQUEST_ID),
      },
      body: JSON.stringify({ query, variables }),
    });
    return RESPONSE.parse(await response.json());
  }

  /** Whether the service answers another read. */
  async #answers(): Promise<boolean> {
    const { errors: [error] = [] } = await this.#send(PROBE, {}, '');
    return error === undefined || !isTemporaryCode(error.extensions.code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.pace[Symbol.dispose]();
    await this.#gateway.dispose();
  }
}

/**
 * Opens the operations of a command, which Ctrl-C ends after the current one.
 *
 * @param command what it does, as in the ids of its requests
 * @param writes whether operations write, with lines in the audit log if one is configured
 * @throws {ConfigError} if the configuration is invalid, or there is no service or key
 */
export async function openOperations(
  commandLine: CommandLine,
  host: Process,
  command: string,
  writes: boolean,
): Promise<Operations> {
  const problems: string[] = [];
  const pace = readPace(commandLine.options, problems);
  rejectProblems(problems);
  const { name, url, settings, credential } = await findTarget(commandLine, host, `to ${command} people`);
  const { audit, mcp: _mcp, clientTokens: _tokens, trustedProxies: _proxies, ...others } = settings;
  const note = (text: string) => printNote(host, text);
  const stopping = new AbortController();
  const gateway = buildGateway(
    {
      ...others,
      ...OF_CLIENTS.parse({}),
      // With its name, which is in the audit log.
      ...(name === undefined ? { upstream: url.href } : { upstreams: { [name]: { url: url.href, default: true } } }),
      ...(writes && audit && { audit }),
      cache: false,
      maxRetries: 0, // Each try waits for its turn.
      maxResponseBytes: MAX_RESPONSE_BYTES,
    },
    {
      logger: createNoteLogger(host, 'error'),
      breakerMinimumCalls: Number.POSITIVE_INFINITY, // As in an import.
    },
    undefined,
    { modules: await loadModules({ modules: MODULES }) },
  );
  const text = 'Stopping after the current call. Press Ctrl-C again to quit now.';
  stopAtSignals(host, stopping, text, 'Stopped. Run the same command again.');
  const words = { command, item: 'call', items: 'people' };
  return new Operations(gateway, credential, { ...pace, words, note, stopping: stopping.signal });
}
