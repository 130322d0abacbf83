import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionResult, type GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import type { UpstreamClient } from '../../upstream/client.ts';
import { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import { NotSent, type Recorder } from '../../upstream/recorder.ts';
import type { UpstreamRequest } from '../../upstream/request.ts';
import { GroupLoadBounds } from '../loaders/group-load-bounds.ts';
import type { CallContext } from '../loaders/loaders.ts';
import { CallPlan, type PlannedCall } from './call-plan.ts';
import type { ExplainedCall, Explanation } from './explanation.ts';
import { FieldRun } from './field-run.ts';
import { Phase } from './phase.ts';

/**
 * Explains one operation. It is really executed, so that arguments, batching and the order of mutations are those of every operation, but calls are
 * recorded instead of sent. Calls that would follow from their data are derived from the selected fields.
 */
export class Explainer {
  /** Client whose calls are recorded, for loaders and plugins. */
  readonly client: UpstreamClient;
  readonly #recorder: Recorder;
  readonly #plan: CallPlan;
  readonly #groupBounds = new GroupLoadBounds();
  #phase = new Phase();
  #requests: { request: UpstreamRequest; run: FieldRun | undefined }[] = [];
  /** Ids of the calls of the last phase that made any. */
  #previous: readonly number[] = [];
  /** Response keys of the root fields that need calls. */
  readonly #calledKeys = new Set<string | number>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
    this.#plan = new CallPlan(recorder.limits.calls);
    this.client = this.#recordingClient(undefined);
  }

  /** Runs the resolver of a root field with a context that notes its calls. */
  run<Context extends CallContext>(
    context: Context,
    info: GraphQLResolveInfo,
    args: Record<string, unknown>,
    resolve: (context: Context) => unknown,
  ): unknown {
    const run = new FieldRun(info, args);
    this.#phase.add(run);
    const own = run.contextOf(context, new Endpoints(this.#recordingClient(run)), () => this.#groupBounds.cleared());
    return info.operation.operation === OperationTypeNode.MUTATION
      ? this.#finishAfter(async () => resolve(own)).catch(nullIfNotSent)
      : resolve(own);
  }

  /** Returns the result of an explained operation: without the data of calls, and with the explanation. */
  async explain(result: ExecutionResult, scopes: readonly string[]): Promise<ExecutionResult> {
    await this.#finishAfter(async () => {});
    const { limits } = this.#recorder;
    const { calls, budget, bulkItems } = this.#plan;
    const explanation: Explanation = {
      calls: await Promise.all(calls.map((call) => this.#complete(call))),
      budget: { ...budget, limit: limits.calls },
      ...(bulkItems.max > 0 && { bulkItems: { ...bulkItems, limit: limits.bulkItems } }),
      scopes: [...scopes],
    };
    const { data } = result;
    const values = Object.entries(data ?? {}).map(([key, value]) => [key, this.#calledKeys.has(key) ? null : value]);
    return {
      ...result,
      data: data && Object.fromEntries(values),
      extensions: { ...result.extensions, explain: explanation },
    };
  }

  #recordingClient(run: FieldRun | undefined): UpstreamClient {
    return this.#recorder.client((request) => this.#requests.push({ request, run }));
  }

  /** Ends the phase after some work. Later calls of the same work, such as other items of a bulk write, are made in the same turn. */
  async #finishAfter<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } finally {
      await nextTurn();
      this.#finishPhase();
    }
  }

  #finishPhase(): void {
    const [plan, phase] = [this.#plan, this.#phase];
    const start = plan.calls.length;
    for (const { request, run } of this.#requests) {
      phase.addCertain(plan, request, run, this.#previous);
    }
    phase.addOpen(plan, this.#groupBounds, this.#recorder);
    for (const key of phase.calledKeys) {
      this.#calledKeys.add(key);
    }
    const ids = plan.calls.slice(start).map(({ id }) => id);
    this.#previous = ids.length > 0 ? ids : this.#previous;
    this.#phase = new Phase();
    this.#requests = [];
  }

  async #complete({ request, ...call }: PlannedCall): Promise<ExplainedCall> {
    const cache = await this.#recorder.cacheOf(call, request);
    const curl = request && this.#recorder.curlOf(request);
    return {
      ...call,
      ...(cache !== undefined && { cache }),
      shared: call.method === 'GET',
      ...(curl !== undefined && { curl }),
    };
  }
}

/** Returns null for a write that was recorded, so that plugins see no error either. */
function nullIfNotSent(error: unknown): null {
  if (error instanceof NotSent) {
    return null;
  }
  throw error;
}
