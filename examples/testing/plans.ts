// Adds the plans of subscribers, which a billing service knows.

import DataLoader from 'dataloader';
import { GraphQLError } from 'graphql';
import { defineModule, type GraphTypes } from 'notigraph/modules';
import subscribers from 'notigraph/modules/subscribers';

const { BILLING_URL = '', BILLING_KEY = '' } = process.env;

type Context = GraphTypes['Context'];

/** Asks the billing service for the plans of subscribers, or deletes them. Sends nothing in explanations. */
async function callBilling(method: 'GET' | 'DELETE', subscriberIds: readonly string[], ctx: Context) {
  if (ctx.isExplained) {
    return new Map<string, string>();
  }
  try {
    const query = new URLSearchParams(subscriberIds.map((id) => ['subscriber', id]));
    const response = await fetch(`${BILLING_URL}/plans?${query}`, {
      method,
      headers: { authorization: `Bearer ${BILLING_KEY}` },
      redirect: 'error',
      signal: AbortSignal.timeout(1_000),
    });
    if (response.ok) {
      return new Map<string, string>(Object.entries(JSON.parse((await response.text()) || '{}')));
    }
    throw new Error(`status ${response.status}`);
  } catch (err) {
    ctx.logger.warn({ err, requestId: ctx.requestId }, 'the billing service failed');
    const outcome = method === 'DELETE' && { outcome: 'UNKNOWN' }; // It may have been applied.
    throw new GraphQLError('Billing is unavailable.', { extensions: { code: 'BILLING_UNAVAILABLE', ...outcome } });
  }
}

const loaders = new WeakMap<Context, DataLoader<string, string | null>>();

/** Returns the loader of an operation, which asks for the plans of all its subscribers at once. */
function plansOf(ctx: Context) {
  let loader = loaders.get(ctx);
  if (loader === undefined) {
    loader = new DataLoader(async (ids) => {
      const plans = await callBilling('GET', ids, ctx);
      return ids.map((id) => plans.get(id) ?? null);
    });
    loaders.set(ctx, loader);
  }
  return loader;
}

export default defineModule('plans', ({ badUserInput, builder, declareCalls, requireScopes, use }) => {
  const { Subscriber, subscriber } = use(subscribers);

  builder.objectField(Subscriber, 'plan', (t) =>
    t.string({
      nullable: true,
      extensions: requireScopes('plans:read'),
      description: 'The name of the plan.',
      resolve: ({ subscriberId }, _args, ctx) => plansOf(ctx).load(subscriberId),
    }),
  );

  builder.mutationField('cancelPlan', (t) =>
    t.boolean({
      nullable: true,
      extensions: { ...requireScopes('plans:write'), ...declareCalls('1') },
      description: 'Cancels the plan of a subscriber.',
      args: { subscriberId: t.arg.id({ required: true, description: 'The id of the subscriber in your system.' }) },
      async resolve(_root, { subscriberId }, ctx) {
        // The notification service knows the caller's key, and to whom the subscriber belongs.
        if ((await ctx.loaders.load(subscriber, subscriberId)) === null) {
          throw badUserInput('This subscriber does not exist.');
        }
        await callBilling('DELETE', [subscriberId], ctx);
        plansOf(ctx).clear(subscriberId); // A later field of the mutation reads it again.
        return true;
      },
    }),
  );
});
