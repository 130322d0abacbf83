// Imitates a service with inboxes, and lists operations on everything in them.

import { workflow } from './records.ts';
import type { Script, ServiceRequest } from './service.ts';

/** Text of the other person's message, which nobody else may see. */
export const SECRET_TEXT = 'canary-text-of-another-person';

/** Id that both a message of the person and one of another person have. */
export const SHARED_ID = '65f0000000000000000000aa';

/** Id of the workflow of the preference. */
export const WORKFLOW_ID = '65f0000000000000000000b1';

/** Message of the service, with members that no client may see. */
export const inboxMessage = (members: object = {}): object => ({
  _id: SHARED_ID,
  _environmentId: 'env',
  _organizationId: 'org',
  _subscriberId: 's1',
  _templateId: 'w1',
  _notificationId: 'n1',
  _feedId: null,
  transactionId: 't1',
  channel: 'in_app',
  content: 'Hello Amara',
  cta: {
    type: 'redirect',
    data: { url: '/orders/1' },
    action: { status: 'pending', buttons: [{ type: 'primary', content: 'Open' }], result: { payload: { a: 1 } } },
  },
  payload: { order: 1, apiToken: 'canary-credential' },
  overrides: { fcm: { token: 'canary-override' } },
  deviceTokens: ['canary-device'],
  subscriber: { _id: 's1', subscriberId: 'user-1', firstName: 'canary-profile' },
  actor: { type: 'user', data: null },
  seen: true,
  read: false,
  lastSeenDate: '2026-01-02T09:00:00.000Z',
  createdAt: '2026-01-02T08:00:00.000Z',
  tags: ['billing'],
  ...members,
});

export const PREFERENCE = {
  template: { _id: WORKFLOW_ID, name: 'Order shipped', critical: false, triggers: [{ identifier: 'order-shipped' }] },
  preference: { enabled: true, channels: { email: true, in_app: false } },
};

const failure = (statusCode: number, message: string) => ({ status: statusCode, body: { statusCode, message } });

/** Returns the subscriber that a request is about. */
export const subscriberIn = ({ path }: Pick<ServiceRequest, 'path'>): string | undefined => {
  const [, encoded] = /(?:^\/v1\/(?:subscribers|people)\/|[?&]subscriberId=)([^/?&]+)/.exec(path) ?? [];
  return encoded === undefined ? undefined : decodeURIComponent(encoded);
};

/** Service with the inboxes of all subscribers but `nobody`. Like the real one, it answers `mark-as` with the messages of everybody. */
export const inboxService: Script = ({ method, path }) => {
  const id = subscriberIn({ path });
  if (id === undefined) {
    return { body: { data: path.startsWith('/v1/workflows/') ? workflow() : [] } };
  }
  if (path.startsWith('/v1/messages?')) {
    const own = { subscriber: { subscriberId: id } };
    return { body: { page: 0, hasMore: false, data: id === 'nobody' ? [] : [inboxMessage(own)] } };
  }
  const place = path.slice(`/v1/subscribers/${encodeURIComponent(id)}`.length).replace(/\?.*/, '');
  if (id === 'nobody') {
    return place === '/notifications/feed'
      ? failure(400, `Subscriber not found for this environment with the id: ${id}. Make sure to create a subscriber.`)
      : place === '/notifications/unseen'
        ? failure(400, `Subscriber ${id} is not exist in environment env, please provide a valid subscriber identifier`)
        : failure(404, `Subscriber ${id} not found`);
  }
  switch (`${method} ${place}`) {
    case 'GET /notifications/feed':
      return {
        body: {
          page: 0,
          pageSize: 10,
          hasMore: false,
          totalCount: 1,
          data: [inboxMessage({ subscriber: { subscriberId: id } })],
        },
      };
    case 'GET /notifications/unseen':
      return { body: { data: { count: 3 } } };
    case 'GET /preferences':
      return { body: { data: [PREFERENCE] } };
    case 'GET /preferences/global':
      return { body: { data: [{ preference: PREFERENCE.preference }] } };
    case 'PATCH /preferences':
      return { body: { data: { preference: PREFERENCE.preference } } };
    case 'POST /messages/mark-as':
      return {
        status: 201,
        body: { data: [inboxMessage(), inboxMessage({ content: SECRET_TEXT, subject: SECRET_TEXT })] },
      };
    case 'POST /messages/mark-all':
      return { status: 201, body: { data: 2 } };
    default:
      return method === 'PATCH'
        ? { body: { data: PREFERENCE } }
        : { status: 201, body: { data: inboxMessage({ content: SECRET_TEXT }) } };
  }
};

/** Writes of an inbox, each with its input but the subscriber. */
export const INBOX_WRITES = {
  markMessages: `messageIds: ["${SHARED_ID}"], as: READ`,
  markAllMessages: 'as: SEEN',
  completeMessageAction: `messageId: "${SHARED_ID}", button: "primary"`,
  updateWorkflowPreference: `workflowId: "${WORKFLOW_ID}", channel: EMAIL, enabled: false`,
  updateGlobalPreferences: 'channels: [{ channel: EMAIL, enabled: false }]',
  deleteInboxMessages: `messageIds: ["${SHARED_ID}"]`,
} as const;

/** Selection of everything in an inbox that makes calls. */
export const WHOLE_INBOX =
  '{ subscriberId messages { messages { content } } unseen { count } unread { count } preferences { enabled } globalPreferences { enabled } }';
