import type { Choices } from './choices.ts';
import type { GeneratedRequest } from './documents.ts';

const GROUP = 'notificationGroup { name }';

const QUERIES: readonly [(choices: Choices) => string, ...((choices: Choices) => string)[]] = [
  (choices) => `workflow(idOrIdentifier: "${key(choices)}") { name ${groupOrNone(choices)} }`,
  (choices) => `workflows(idsOrIdentifiers: ${JSON.stringify(keys(choices))}) { id ${groupOrNone(choices)} }`,
  (choices) => `notificationGroup(id: "g${choices.pick(14)}") { name }`,
  () => 'notificationGroups { name }',
  (choices) => `notificationStats { workflows(first: ${1 + choices.pick(4)}) { id ${groupOrNone(choices)} } }`,
];

const MUTATIONS: typeof QUERIES = [
  (choices) =>
    `updateWorkflowStatus(input: { workflowId: "${key(choices)}", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { id a: ${GROUP} b: ${GROUP} } } }`,
  () => 'createNotificationGroup(input: { name: "New" }) { __typename }',
  (choices) => `updateNotificationGroup(input: { id: "g${choices.pick(14)}", name: "Other" }) { __typename }`,
  (choices) => `deleteNotificationGroup(input: { id: "g${choices.pick(14)}" }) { __typename }`,
  (choices) =>
    `createSubscribers(input: { subscribers: [${keys(choices).map((id) => `{ subscriberId: "${id}" }`)}] }) { failed }`,
];

/** Generates an operation of the fields whose numbers of calls depend on others. */
export function generateCalls(choices: Choices): GeneratedRequest {
  const [kind, fields] = choices.oneIn(3) ? (['mutation', MUTATIONS] as const) : (['query', QUERIES] as const);
  const selections = Array.from({ length: 1 + choices.pick(4) }, (_, i) => `a${i}: ${choices.of(fields)(choices)}`);
  return { query: `${kind} { ${selections.join(' ')} }`, variables: {}, operationName: undefined };
}

const key = (choices: Choices): string => (choices.oneIn(20) ? '..' : `w${choices.pick(20)}`);

const keys = (choices: Choices): string[] => Array.from({ length: 1 + choices.pick(12) }, () => key(choices));

const groupOrNone = (choices: Choices): string => (choices.oneIn(3) ? '' : GROUP);
