import type { UpstreamError } from '../../upstream/errors/errors.ts';
import type { SubscriberFields } from '../../upstream/resources/subscribers.ts';

/** Shorter texts, such as a locale, are too common to be replaced. */
const MIN_LENGTH = 3;

/** Returns the message of an error without the texts of the row, which are personal data. The service may have quoted them. */
export function describeError({ message }: UpstreamError, { subscriberId: _, ...fields }: SubscriberFields): string {
  return listTexts(fields)
    .filter((text) => text.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length)
    .reduce((shown, text) => shown.replaceAll(text, '…'), message);
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(listTexts);
  }
  return typeof value === 'string' ? [value] : [];
}
