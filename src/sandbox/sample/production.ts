import { PRODUCTION } from '../environments.ts';
import { createPerson, type SampleEnvironment } from '../records/definition.ts';

const person = createPerson('live.example');

/** Samples of a smaller environment. No name occurs in development too, so that tests notice records of the wrong environment. */
export const PRODUCTION_SAMPLE: SampleEnvironment = {
  environment: PRODUCTION,
  notificationGroups: ['Live customer mail', 'Live operations'],
  feeds: ['Live activity', 'Live announcements'],
  workflows: [
    {
      identifier: 'live-receipt',
      name: 'Receipt',
      description: 'The receipt of a purchase.',
      group: 'Live customer mail',
      tags: ['live', 'billing'],
      critical: true,
      createdAt: '2025-05-05T09:00:12.004Z',
      updatedAt: '2025-05-19T10:12:45.118Z',
      preferred: ['email'],
      steps: [
        {
          name: 'Receipt email',
          type: 'email',
          subject: 'Your receipt {{receiptNumber}}',
          content: 'Thank you, {{subscriber.firstName}}. We have received {{amount}} {{currency}}.',
        },
      ],
      traffic: { weekday: 16, weekend: 9, routes: [['email']] },
    },
    {
      identifier: 'live-new-follower',
      name: 'New follower',
      description: 'Tells a maker about new followers, at most hourly.',
      group: 'Live customer mail',
      tags: ['live', 'community'],
      createdAt: '2025-05-06T11:21:38.950Z',
      updatedAt: '2025-05-06T11:58:02.403Z',
      steps: [
        {
          name: 'Collect followers',
          type: 'digest',
          metadata: { type: 'regular', amount: 1, unit: 'hours', digestKey: 'makerId', updateMode: false },
        },
        {
          name: 'Follower in the app',
          type: 'in_app',
          content: '{{followerName}} follows you now',
          feed: 'Live activity',
        },
      ],
      traffic: { weekday: 12, weekend: 12, routes: [['in_app']] },
    },
    {
      identifier: 'live-status-page',
      name: 'Status page update',
      description: 'Passes updates of the status page on to the chat of the team.',
      group: 'Live operations',
      tags: ['live', 'operations'],
      critical: true,
      createdAt: '2025-05-12T07:45:00.671Z',
      updatedAt: '2025-06-03T15:30:27.299Z',
      preferred: ['chat', 'sms'],
      steps: [
        { name: 'Team chat', type: 'chat', content: '{{component}} is {{status}}: {{message}}' },
        { name: 'Text message', type: 'sms', content: '{{component}} is {{status}}' },
      ],
      traffic: { weekday: 1, weekend: 1, routes: [['chat'], ['chat', 'sms']] },
    },
  ],
  retired: {
    identifier: 'live-beta-invitation',
    traffic: { weekday: 3, weekend: 2, routes: [['email']] },
  },
  subscribers: [
    person('live-501', 'Ines Carvalho', 'pt-PT', '2025-05-07T13:14:15.161Z'),
    person('live-502', 'Daniel Kim', 'ko-KR', '2025-05-09T20:41:33.027Z', { phone: '+821012345678' }),
    person('live-503', 'Hanna Laine', 'fi-FI', '2025-05-22T06:05:49.388Z'),
  ],
  messages: [
    {
      transactionId: 'live-transaction-0001',
      workflow: 'live-status-page',
      subscriberId: 'live-502',
      channels: ['chat', 'sms'],
    },
  ],
};
