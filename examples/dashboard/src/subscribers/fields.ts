// Defines the fields of the form for subscribers, and validates what was typed.

import type { CreateSubscriberInput } from '../documents.gen.ts';

/** The form's name, also in messages about unsent text. */
export const FORM = 'Add a subscriber';

export interface SubscriberFieldDefinition {
  name: 'subscriberId' | 'email' | 'firstName' | 'lastName' | 'phone' | 'locale';
  label: string;
  hint?: string;
  type?: 'email' | 'tel';
  isRequired?: boolean;
}

export const FIELDS: readonly SubscriberFieldDefinition[] = [
  {
    name: 'subscriberId',
    label: 'Subscriber id',
    hint: 'Your own id for the person, such as user-42.',
    isRequired: true,
  },
  { name: 'email', label: 'Email address', type: 'email' },
  { name: 'firstName', label: 'First name' },
  { name: 'lastName', label: 'Last name' },
  { name: 'phone', label: 'Phone number', hint: 'With the country code, such as +46 70 123 45 67.', type: 'tel' },
  { name: 'locale', label: 'Language', hint: 'A language tag such as en-GB.' },
];

type Input = CreateSubscriberInput & { subscriberId: string };

/** Messages for invalid fields, by field name. */
export type Problems = { [Name in SubscriberFieldDefinition['name']]?: string };

/** Reads the typed values; empty fields are not sent. */
export function readInput(form: FormData): Input {
  const entries = FIELDS.map(({ name }) => [name, String(form.get(name) ?? '').trim()] as const);
  return { subscriberId: '', ...Object.fromEntries(entries.filter(([, value]) => value !== '')) };
}

/** Validates the input before it is sent; the service validates it again. */
export function problemsOf({ subscriberId, email }: Input): Problems {
  return {
    ...(subscriberId === '' && { subscriberId: 'Enter a subscriber id.' }),
    ...(email != null && !/^\S+@\S+$/.test(email) && { email: 'Enter a valid email address.' }),
  };
}
