import { DEVELOPMENT } from '../environments.ts';
import { createPerson, type SampleEnvironment } from '../records/definition.ts';
import { DEVELOPMENT_WORKFLOWS } from './development-workflows.ts';

const chatChannel = { providerId: 'slack', credentials: { webhookUrl: 'https://hooks.chat.example/T01/B02' } };
const phone = { providerId: 'fcm', credentials: { deviceTokens: ['sample-device-1'] } };

const person = createPerson('juniper.example');

/** Samples of the environment used in examples and documentation. */
export const DEVELOPMENT_SAMPLE: SampleEnvironment = {
  environment: DEVELOPMENT,
  notificationGroups: ['Lifecycle', 'Community', 'Billing', 'Orders'],
  feeds: ['Activity', 'Billing', 'Getting started', 'Announcements'],
  workflows: DEVELOPMENT_WORKFLOWS,
  retired: {
    identifier: 'seasonal-campaign',
    traffic: { weekday: 8, weekend: 8, routes: [['email'], ['email', 'push']] },
  },
  subscribers: [
    person('customer-1001', 'Amara Okafor', 'en-NG', '2025-02-04T07:31:16.220Z', {
      phone: '+2348012345678',
      avatar: 'https://images.juniper.example/people/1001.png',
      data: { plan: 'maker', smsOptIn: true },
      channels: [phone],
    }),
    person('customer-1002', 'Lukas Brandt', 'de-DE', '2025-02-06T18:02:44.901Z', {
      phone: '+4915112345678',
      data: { plan: 'customer', smsOptIn: false },
    }),
    person('customer-1003', 'Mei Tanaka', 'ja-JP', '2025-02-18T02:15:30.077Z', {
      avatar: 'https://images.juniper.example/people/1003.png',
    }),
    person('customer-1004', 'Camila Rojas', 'es-CL', '2025-03-01T21:47:08.514Z', {
      phone: '+56912345678',
      data: { plan: 'customer', smsOptIn: true },
    }),
    person('customer-1005', 'Noor Haddad', 'ar-JO', '2025-03-15T12:09:51.338Z'),
    person('customer-1006', 'Émile Gagnon', 'fr-CA', '2025-04-02T16:55:29.640Z', {
      data: { plan: 'maker', shop: 'Atelier Gagnon' },
    }),
    person('customer-1007', 'Priya Raman', 'en-IN', '2025-04-28T05:38:13.782Z', { phone: '+919812345678' }),
    person('team/ops-1', 'Sofie Nyberg', 'sv-SE', '2025-02-03T08:20:00.000Z', {
      phone: '+46701234567',
      data: { onCall: true },
      channels: [chatChannel, phone],
    }),
    person('team/ops-2', 'Tomasz Wilk', 'pl-PL', '2025-02-03T08:24:00.000Z', {
      phone: '+48601234567',
      data: { onCall: false },
      channels: [chatChannel],
    }),
    person('team/support-1', 'Grace Whitfield', 'en-GB', '2025-02-03T08:31:00.000Z'),
  ],
  messages: [
    {
      transactionId: 'sample-transaction-0001',
      workflow: 'welcome-onboarding',
      subscriberId: 'customer-1001',
      channels: ['email', 'in_app'],
    },
    {
      transactionId: 'sample-transaction-0002',
      workflow: 'order-shipped',
      subscriberId: 'customer-1004',
      channels: ['push', 'sms'],
    },
    {
      transactionId: 'sample-transaction-0003',
      workflow: 'incident-alert',
      subscriberId: 'team/ops-1',
      channels: ['chat', 'push', 'sms'],
    },
  ],
};
