import type { SampleWorkflow } from '../records/definition.ts';

/** Workflows of Juniper, a fictional marketplace for crafts. */
export const DEVELOPMENT_WORKFLOWS: readonly SampleWorkflow[] = [
  {
    identifier: 'welcome-onboarding',
    name: 'Welcome and onboarding',
    description: 'Greets a new customer, and follows up two days later unless the profile is complete.',
    group: 'Lifecycle',
    tags: ['onboarding', 'lifecycle'],
    createdAt: '2025-02-03T09:12:41.018Z',
    updatedAt: '2025-06-17T14:03:22.640Z',
    preferred: ['email', 'in_app'],
    data: { owner: 'growth', runbook: 'https://wiki.juniper.example/welcome' },
    steps: [
      {
        name: 'Welcome email',
        type: 'email',
        subject: 'Welcome to Juniper, {{subscriber.firstName}}',
        content: [
          { type: 'text', content: 'Hello {{subscriber.firstName}}, your account is ready.' },
          { type: 'text', content: 'Makers near {{city}} have added {{newItems}} new items this week.' },
          { type: 'button', content: 'Look around', url: '{{startUrl}}' },
        ],
      },
      {
        name: 'Welcome in the app',
        type: 'in_app',
        content: 'Welcome, {{subscriber.firstName}}! Start with the makers near {{city}}.',
        feed: 'Getting started',
      },
      {
        name: 'Two days later',
        type: 'delay',
        metadata: { type: 'regular', amount: 2, unit: 'days' },
      },
      {
        name: 'Reminder to complete the profile',
        type: 'email',
        subject: 'Two minutes to finish your profile',
        content: 'Hello {{subscriber.firstName}}, a complete profile lets makers answer you faster: {{profileUrl}}',
        filters: [
          {
            value: 'AND',
            children: [{ field: 'profileComplete', value: 'false', operator: 'EQUAL', on: 'subscriber' }],
          },
        ],
      },
    ],
    traffic: { weekday: 6, weekend: 4, routes: [['email', 'in_app']] },
  },
  {
    identifier: 'comment-mention',
    name: 'Mention in a comment',
    description: 'Collects mentions in one discussion, so that a lively thread sends one notification.',
    group: 'Community',
    tags: ['community', 'digest'],
    createdAt: '2025-02-11T13:40:05.771Z',
    updatedAt: '2025-05-02T08:27:54.312Z',
    steps: [
      {
        name: 'Collect mentions',
        type: 'digest',
        metadata: {
          type: 'backoff',
          amount: 10,
          unit: 'minutes',
          digestKey: 'discussionId',
          backoff: true,
          backoffAmount: 2,
          backoffUnit: 'minutes',
          updateMode: false,
          timed: { weekDays: [], monthDays: [] },
        },
      },
      {
        name: 'Mention in the app',
        type: 'in_app',
        content: '{{authorName}} mentioned you in "{{discussionTitle}}"',
        feed: 'Activity',
      },
      {
        name: 'Mention on the phone',
        type: 'push',
        subject: '{{authorName}} mentioned you',
        content: '{{commentExcerpt}}',
        filters: [
          { value: 'AND', children: [{ field: 'isOnline', value: 'false', operator: 'EQUAL', on: 'subscriber' }] },
        ],
      },
    ],
    traffic: { weekday: 42, weekend: 12, routes: [['in_app'], ['in_app'], ['in_app', 'push']] },
  },
  {
    identifier: 'weekly-digest',
    name: 'Weekly digest',
    description: 'Monday summary of what the followed makers have published.',
    group: 'Community',
    tags: ['digest', 'newsletter'],
    createdAt: '2025-02-20T10:00:33.904Z',
    updatedAt: '2025-02-20T10:41:09.255Z',
    preferred: ['email'],
    steps: [
      {
        name: 'Collect the week',
        type: 'digest',
        metadata: {
          type: 'timed',
          amount: 1,
          unit: 'weeks',
          digestKey: 'makerId',
          updateMode: false,
          timed: { weekDays: ['monday'], monthDays: [], atTime: '09:00' },
        },
      },
      {
        name: 'Digest email',
        type: 'email',
        subject: 'Your week on Juniper: {{itemCount}} new items',
        content: 'Hello {{subscriber.firstName}}, {{makerCount}} makers you follow were busy. Read on: {{digestUrl}}',
        template: { preheader: 'What is new', senderName: 'Juniper', cta: { data: { url: '{{digestUrl}}' } } },
        replyCallback: { active: true, url: 'https://api.juniper.example/replies/digest' },
      },
    ],
    traffic: { weekday: 30, weekend: 0, weekDays: [1], routes: [['email']] },
  },
  {
    identifier: 'payment-failed',
    name: 'Payment failed',
    description: 'Asks for another card; larger amounts and repeated failures are also sent as a text message.',
    group: 'Billing',
    tags: ['billing', 'dunning'],
    critical: true,
    createdAt: '2025-03-04T15:22:17.126Z',
    updatedAt: '2025-06-30T11:55:48.087Z',
    steps: [
      {
        name: 'Payment failed email',
        type: 'email',
        subject: 'We could not charge {{amount}} {{currency}}',
        content:
          'Hello {{subscriber.firstName}}, the card ending in {{cardEnding}} was declined. Update it: {{billingUrl}}',
        shouldStopOnFail: true,
      },
      {
        name: 'Notice in the app',
        type: 'in_app',
        content: 'Your payment of {{amount}} {{currency}} failed.',
        feed: 'Billing',
      },
      {
        name: 'Wait for a new card',
        type: 'delay',
        metadata: { type: 'regular', amount: 24, unit: 'hours' },
      },
      {
        name: 'Text message',
        type: 'sms',
        content: 'Juniper: your payment of {{amount}} {{currency}} is still open. {{billingUrl}}',
        filters: [
          {
            value: 'OR',
            children: [
              { field: 'amount', value: '100', operator: 'LARGER', on: 'payload' },
              { value: 'AND', children: [{ field: 'attempt', value: '2', operator: 'LARGER_EQUAL', on: 'payload' }] },
            ],
          },
        ],
      },
    ],
    traffic: {
      weekday: 4,
      weekend: 2,
      routes: [
        ['email', 'in_app'],
        ['email', 'in_app', 'sms'],
      ],
    },
  },
  {
    identifier: 'order-shipped',
    name: 'Order shipped',
    description: 'Tells the customer that the parcel is on its way.',
    group: 'Orders',
    tags: ['orders', 'transactional'],
    createdAt: '2025-03-10T08:05:59.433Z',
    updatedAt: '2025-04-22T16:18:30.598Z',
    preferred: ['push', 'sms', 'email'],
    steps: [
      {
        name: 'On the phone',
        type: 'push',
        subject: 'Your order is on its way',
        content: 'Order {{orderNumber}} was handed to {{carrier}}.',
      },
      {
        name: 'Text message',
        type: 'sms',
        content: 'Juniper: order {{orderNumber}} is on its way with {{carrier}}. Track it: {{trackingUrl}}',
        filters: [
          { value: 'AND', children: [{ field: 'smsOptIn', value: 'true', operator: 'EQUAL', on: 'subscriber' }] },
        ],
      },
    ],
    traffic: { weekday: 22, weekend: 14, routes: [['push'], ['push', 'sms']] },
  },
  {
    identifier: 'password-reset',
    name: 'Password reset',
    description: 'The link to choose a new password; valid for one hour.',
    group: 'Lifecycle',
    tags: ['security', 'transactional'],
    critical: true,
    createdAt: '2025-02-03T09:48:12.350Z',
    updatedAt: '2025-02-05T12:30:01.912Z',
    preferred: ['email'],
    steps: [
      {
        name: 'Reset email',
        type: 'email',
        subject: 'Choose a new password',
        content:
          'Hello {{subscriber.firstName}}, choose a new password here: {{resetUrl}} The link is valid for one hour.',
        shouldStopOnFail: true,
      },
    ],
    traffic: { weekday: 9, weekend: 5, routes: [['email']] },
  },
  {
    identifier: 'incident-alert',
    name: 'Incident alert',
    description: 'Wakes the people on call: chat and phone at once, a text message when nobody has acknowledged.',
    group: 'Orders',
    tags: ['operations', 'on-call'],
    critical: true,
    createdAt: '2025-04-01T06:59:20.007Z',
    updatedAt: '2025-07-08T19:44:36.731Z',
    preferred: ['chat', 'push', 'sms'],
    steps: [
      {
        name: 'On-call channel',
        type: 'chat',
        content: '[{{severity}}] {{service}}: {{summary}} ({{incidentUrl}})',
      },
      {
        name: 'On the phone',
        type: 'push',
        subject: '{{severity}} on {{service}}',
        content: '{{summary}}',
      },
      {
        name: 'Five minutes to acknowledge',
        type: 'delay',
        metadata: { type: 'regular', amount: 300, unit: 'seconds' },
      },
      {
        name: 'Text message',
        type: 'sms',
        content: '{{severity}}: {{service}} is not acknowledged. {{incidentUrl}}',
        filters: [
          {
            value: 'AND',
            children: [
              { field: 'severity', value: 'critical', operator: 'EQUAL', on: 'payload' },
              { field: 'onCall', value: 'true', operator: 'EQUAL', on: 'subscriber' },
            ],
          },
        ],
      },
    ],
    traffic: {
      weekday: 2,
      weekend: 1,
      routes: [
        ['chat', 'push'],
        ['chat', 'push', 'sms'],
      ],
    },
  },
  {
    // A draft: no description, inactive, never triggered.
    identifier: 'review-request',
    name: 'Review request',
    group: 'Orders',
    tags: [],
    active: false,
    createdAt: '2025-07-14T17:20:11.265Z',
    updatedAt: '2025-07-14T17:35:58.840Z',
    steps: [
      {
        name: 'Ask for a review',
        type: 'in_app',
        content: 'How do you like {{itemName}}?',
        feed: 'Activity',
      },
    ],
  },
];
