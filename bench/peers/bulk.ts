import type { SubjectRequest } from '../subjects.ts';
import { SUBSCRIBERS } from '../workloads.ts';

/**
 * Workload b1 for a schema that creates subscribers only one by one: a document with a mutation field for each of them.
 * @param inputType the name of the input type, @param selection what leads to the subscriber
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

/** The answer to such a document as the floor would put it. */
export const asBulk = (subscribers: readonly object[]) => ({
  createSubscribers: {
    succeeded: subscribers.length,
    results: subscribers.map((subscriber) => ({ subscriber })),
  },
});
