// Adds the plans of subscribers, which a billing service knows.

import { GraphQLError } from 'graphql';
import { defineModule, type GraphTypes } from 'notigraph/modules';
import subscribers from 'notigraph/modules/subscribers';

const { BILLING_URL = '', BILLING_KEY = '' } = process.env;

/** Asks the billing service for the plan of a subscriber, or deletes it. Sends nothing in explanations. */
async function callBilling(method: 'GET' | 'DELETE', subscriberId: string, ctx: GraphTypes['Context']) {
  if (ctx.isExplained) {
    return null;
  }
  try {
    const response = await fetch(`${BILLING_URL}/plan?subscriber=${encodeURIComponent(subscriberId)}`, {
      method,
      headers: { authorization: `Bearer ${BILLING_KEY}` },
      redirect: 'error',
      signal: AbortSignal.timeout(1_000),
    });
    if (response.ok) {
      return await response.text();
    }
    throw new Error(`status ${response.status}`);
  } catch (err) {
    ctx.logger.warn({ err, requestId: ctx.requestId }, 'the billing service failed');
    const outcome = method === 'DELETE' && { outcome: 'UNKNOWN' }; // It may have been applied.
    throw new GraphQLError('Billing is unavailable.', { extensions: { code: 'BILLING_UNAVAILABLE', ...outcome } });
  }
}

export default defineModule('plans', ({ badUserInput, builder, declareCalls, requireScopes, use }) => {
  const { Subscriber, subscriber } = use(subscribers);

  builder.objectField(Subscriber, 'plan', (t) =>
    t.string({
      nullable: true,
      extensions: requireScopes('plans:read'),
      description: 'The name of the plan.',
      resolve: ({ subscriberId }, _args, ctx) => callBilling('GET', subscriberId, ctx),
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
        await callBilling('DELETE', subscriberId, ctx);
        return true;
      },
    }),
  );
});
