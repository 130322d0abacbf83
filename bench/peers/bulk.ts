import type { SubjectRequest } from '../subjects.ts';
import { SUBSCRIBERS } from '../workloads.ts';

/**
 * Returns workload b1 for a schema without bulk creation: a document with one mutation field per subscriber.
 * @param inputType name of the input type, @param selection selection set of the mutation field
 */
export function createEach(inputType: string, selection: string): Pick<SubjectRequest, 'query' | 'variables'> {
  const names = SUBSCRIBERS.map((_, index) => `s${index}`);
  return {
    query: `mutation B1(${names.map((name) => `$${name}: ${inputType}!`).join(' ')}) {
      ${names.map((name) => `${name}: createSubscriber(input: $${name}) ${selection}`).join('\n')}
    }`,
    variables: () => Object.fromEntries(SUBSCRIBERS.map((subscriber, index) => [names[index], subscriber])),
  };
}

/** Converts the response of such a document to the floor's form. */
export const asBulk = (subscribers: readonly object[]) => ({
  createSubscribers: {
    succeeded: subscribers.length,
    results: subscribers.map((subscriber) => ({ subscriber })),
  },
});
