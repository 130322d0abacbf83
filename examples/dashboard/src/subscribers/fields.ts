import type { CreateSubscriberInput } from '../documents.gen.ts';

/** The form's name, also where its unsent text is spoken of. */
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
    hint: 'Your own id of the person, such as user-42.',
    isRequired: true,
  },
  { name: 'email', label: 'E-mail address', type: 'email' },
  { name: 'firstName', label: 'First name' },
  { name: 'lastName', label: 'Last name' },
  { name: 'phone', label: 'Phone number', hint: 'With the country, such as +46 70 123 45 67.', type: 'tel' },
  { name: 'locale', label: 'Language', hint: 'A tag such as en-GB.' },
];

type Input = CreateSubscriberInput & { subscriberId: string };

/** What is wrong with fields, by their names. */
export type Problems = { [Name in SubscriberFieldDefinition['name']]?: string };

/** What is typed; a field that is left empty is not sent. */
export function readInput(form: FormData): Input {
  const entries = FIELDS.map(({ name }) => [name, String(form.get(name) ?? '').trim()] as const);
  return { subscriberId: '', ...Object.fromEntries(entries.filter(([, value]) => value !== '')) };
}

/** What is wrong before it is sent; the service has the last word. */
export function problemsOf({ subscriberId, email }: Input): Problems {
  return {
    ...(subscriberId === '' && { subscriberId: 'A subscriber needs an id.' }),
    ...(email != null && !/^\S+@\S+$/.test(email) && { email: 'This is no e-mail address.' }),
  };
}
