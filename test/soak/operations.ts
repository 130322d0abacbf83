// Creates the operations of the soak test, and reads the outcomes of their writes.

import type { Ledger, ReportedOutcome } from './ledger.ts';
import { GROUPS, WORKFLOWS } from './upstream.ts';

/** Operation to send. */
export interface Operation {
  query: string;
  variables: Record<string, unknown>;
  /** Number of upstream reads if nothing fails. */
  reads: number;
  /** Markers of its writes, in order. */
  markers: string[];
}

/** Parts of a response that are checked. `result` is the alias of every mutation. */
export interface GraphQLResponse {
  data?: { result?: { results?: { __typename: string; outcome?: ReportedOutcome }[] } | null } | null;
  errors?: {
    message: string;
    path?: (string | number)[];
    extensions: { code: string; outcome?: ReportedOutcome; upstream?: { route: string } };
  }[];
}

const WORKFLOW = `query Workflow($id: ID!) {
  workflow(idOrIdentifier: $id) { id name active tags notificationGroup { id name } }
}`;
const WORKFLOW_LIST = `query Workflows($ids: [ID!]!) {
  workflows(idsOrIdentifiers: $ids) { id name notificationGroup { name } }
}`;
const GROUP = 'query Group($id: ID!) { notificationGroup(id: $id) { id name parentId } }';
const GROUP_LIST = '{ notificationGroups { id name organizationId } }';
const STATS = '{ notificationStats(days: 30) { key date count channels workflows(first: 2) { name } } }';

const mutation = (field: string, input: string): string =>
  `mutation ($input: ${input}!) { result: ${field}(input: $input) { __typename } }`;

const CREATE_GROUP = mutation('createNotificationGroup', 'CreateNotificationGroupInput');
const RENAME_GROUP = mutation('updateNotificationGroup', 'UpdateNotificationGroupInput');
const DELETE_GROUP = mutation('deleteNotificationGroup', 'DeleteNotificationGroupInput');
const CREATE_FEED = mutation('createFeed', 'CreateFeedInput');
const DELETE_FEED = mutation('deleteFeed', 'DeleteFeedInput');
const DELETE_MESSAGES = mutation('deleteMessagesByTransaction', 'DeleteMessagesByTransactionInput');
const SET_STATUS = mutation('updateWorkflowStatus', 'UpdateWorkflowStatusInput');
const CREATE_SUBSCRIBERS = `mutation ($input: CreateSubscribersInput!) {
  result: createSubscribers(input: $input) { results { __typename ... on UpstreamFailure { outcome } } }
}`;

const BULK = 10;

/** Creates a generator of operations, with two reads per write. Each write has its own marker. */
export function createOperations(ledger: Pick<Ledger, 'createMarker'>, random: () => number): () => Operation {
  const idOf = (records: readonly { _id?: string }[]) => records[Math.floor(random() * records.length)]?._id ?? '';
  const read = (query: string, reads: number, variables: Record<string, unknown> = {}): Operation => ({
    query,
    variables,
    reads,
    markers: [],
  });
  const write = (query: string, toInput: (marker: string) => object): Operation => {
    const marker = ledger.createMarker();
    return { query, variables: { input: toInput(marker) }, reads: 0, markers: [marker] };
  };
  const kinds: (() => Operation)[] = [
    () => read(WORKFLOW, 2, { id: idOf(WORKFLOWS) }),
    () => read(WORKFLOW, 2, { id: idOf(WORKFLOWS) }),
    () => read(WORKFLOW, 2, { id: idOf(WORKFLOWS) }),
    // Five workflows of five groups, which are loaded with one list request.
    () =>
      read(WORKFLOW_LIST, 6, {
        ids: WORKFLOWS.slice(Math.floor(random() * 45))
          .slice(0, 5)
          .map(({ _id }) => _id),
      }),
    () => read(GROUP, 1, { id: idOf(GROUPS) }),
    () => read(GROUP, 1, { id: idOf(GROUPS) }),
    () => read(GROUP_LIST, 1),
    () => read(GROUP_LIST, 1),
    () => read(STATS, 5),
    () => read(GROUP, 1, { id: idOf(GROUPS) }),
    () => write(CREATE_GROUP, (name) => ({ name })),
    () => write(CREATE_FEED, (name) => ({ name, idempotencyKey: `key-${name}` })),
    () => write(RENAME_GROUP, (name) => ({ id: idOf(GROUPS), name })),
    () => write(random() < 0.5 ? DELETE_GROUP : DELETE_FEED, (id) => ({ id })),
    () =>
      random() < 0.5
        ? write(DELETE_MESSAGES, (transactionId) => ({ transactionId }))
        : write(SET_STATUS, (workflowId) => ({ workflowId, active: true })),
    () => {
      const markers = Array.from({ length: random() < 0.3 ? BULK : 1 }, () => ledger.createMarker());
      const subscribers = markers.map((subscriberId) => ({ subscriberId }));
      return { query: CREATE_SUBSCRIBERS, variables: { input: { subscribers } }, reads: 0, markers };
    },
  ];
  return () => {
    const make = kinds[Math.floor(random() * kinds.length)];
    if (make === undefined) {
      throw new RangeError('random() must be below 1');
    }
    return make();
  };
}

/** Returns the reported outcome of each write of the operation. */
export function readOutcomes({ markers }: Operation, { data, errors = [] }: GraphQLResponse): ReportedOutcome[] {
  const result = data?.result;
  return markers.map((_, i) => {
    if (result === null || result === undefined) {
      return errors[0]?.extensions.outcome ?? 'UNKNOWN';
    }
    const { results } = result;
    return results === undefined || results[i]?.__typename.endsWith('Success')
      ? 'APPLIED'
      : (results[i]?.outcome ?? 'UNKNOWN');
  });
}
