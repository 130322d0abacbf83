// Masks credentials in JSON that browsers see: all JSON of records but the customer's own `data`.

import type { Identity } from '../../auth/identity.ts';
import { findJsonError } from '../../graphql/json-values.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeByObject } from '../../lib/memoize.ts';

/** Part of a value to mask: what is likely a credential, all but the provider of settings, or all. */
type MaskedPart = 'likely' | 'settings' | 'all';

const MASK = '[masked]';

/** Part of the descriptions of fields with JSON. */
export const MASKED = `With a token, what is likely a credential is \`${MASK}\`.`;

const PROVIDER_MEMBERS = ['providerId', 'provider', 'integrationIdentifier', '_integrationId'];

/** Members that identify the provider of settings. All others can contain a token or a webhook URL. */
const VISIBLE_MEMBERS = new Set(['type', ...PROVIDER_MEMBERS]);

/** Form of names that are shown where all is masked. Other names can be tokens used as keys. */
const MEMBER_NAME = /^[a-z_]{1,32}$/i;

/** Kinds of keys that name something, such as `issueKey`. Any other one can be a credential. */
const NAMING_KEYS =
  'attribute|board|cache|category|collapse|column|composite|dedup|deduplication|digest|entity|epic|event|feature|field|flag|foreign|group|i18n|idempotency|index|issue|item|label|layout|locale|lookup|map|message|natural|object|order|page|partition|primary|project|record|row|section|setting|sort|step|template|text|thread|ticket|topic|translation|unique|workflow';

/** Names of credentials, and those of parameters of an address, in the form of `toWords`: parts that no other word has, words, and last words. */
const CREDENTIAL = [
  String.raw`token|secret(?!ar)|passw|pass[-. ](?:word|wd)|pass[-. ]?(?:phrase|code)|pwd|credential|web[-. ]?hook|jwt|cookie|hmac|p256dh|signature|sess(?:ion)?[-. ]?id\b|(?:api|access|auth|private|signing|encryption)[-. ]?key`,
  String.raw`\b(?:(?:o|basic|http|proxy|smtp|x)?auth|authentication|authori[sz]ation|bearer|[th]?otp|csrf|xsrf|cv[cv]|dsn|fcm|apns|endpoint|hash|pem|pfx|p12|(?:access|activation|auth|backup|confirmation|invite|login|pin|recovery|reset|security|verification)[-. ]?code|conn(?:ection)?[-. ]?str(?:ing)?|(?:seed|recovery)[-. ]?phrase)(?:e?s)?\d*\b`,
  String.raw`\b(?:pass|pin|sig|session|device|device[-. ]?id|(?<!\b(?:${NAMING_KEYS})[-. ])key(?:[-. ](?:id|pair|material|file|data|value))?)(?:e?s)?\d*(?=$|=)`,
].join('|');

const CREDENTIAL_NAME = new RegExp(CREDENTIAL);

/** Names of the value in a pair: `{ name: 'fcmToken', value: '…' }`. */
const PAIR_VALUE = /^(?:default)?val(?:ue)?s?$/i;

/** Parameter of an address with a credential. A placeholder of a template, such as `{{token}}`, is none. Lengths are limited, so that it takes linear time. */
const PARAMETER = `(?:[?&#;]code|(?:${CREDENTIAL})[^\\s?&#;=]{0,64}(?<=[?&#;][^\\s?&#;=]{1,150}))=(?!\\{\\{)[^\\s&#;]`;

/** Addresses with a user or a password, of webhooks, and with a credential as a parameter, in the form of `toWords`. */
const PRIVATE_ADDRESS = new RegExp(`//[^\\s/?#]*@|[/.][\\w-]*web-?hook|[/.]hooks?[/.]|${PARAMETER}`);

/** Returns a text in which a hyphen separates the words of a name, such as `x-api-key` for `xAPI_Key`. */
const toWords = (text: string): string =>
  text.replace(/_|%[\dA-F]{2}|(?=[A-Z])(?<=[a-z]\d*)|(?=[A-Z][a-z])(?<=[A-Z])/g, '-').toLowerCase();

const isCredential = (name: string): boolean => CREDENTIAL_NAME.test(toWords(name));

/**
 * Returns JSON that the service sent, as a client may see it. Browsers see `[masked]` instead of credentials.
 *
 * @param record record with all members, if the value has some of them: others can name the value of a pair
 */
export const visibleJson = <T>(value: T, { clientKind }: Identity, part: MaskedPart = 'likely', record?: object): T =>
  clientKind === 'browser' ? ((value instanceof Object ? masked(value, part, record) : mask(value, part)) as T) : value;

/** Cached, because one record is often selected under several names. Invalid JSON fails when it is written, and can be too large to be masked. */
const masked = memoizeByObject((value: object, part: MaskedPart, record?: object) =>
  findJsonError(value) === undefined ? mask(value, part, record) : value,
);

/** Masks a value. Keeps its structure, and null and empty values. */
function mask(value: unknown, part: MaskedPart, record?: object): unknown {
  if (Array.isArray(value)) {
    // A list of two can be a pair, such as a header.
    return value.map((item, i) => mask(item, i === 1 && value.length === 2 && suggests(value[0]) ? 'all' : part));
  }
  if (!isRecord(value)) {
    const isShown = part === 'likely' ? !isPrivate(value) : value === null || value === '';
    return isShown ? value : MASK;
  }
  const isSettings = part === 'likely' && record === undefined && PROVIDER_MEMBERS.some((name) => name in value);
  const own = isSettings ? 'settings' : part;
  const members = Object.entries(value);
  const isPair = members.some(([name]) => PAIR_VALUE.test(name));
  const texts = isPair ? Object.entries(record ?? value).filter(([name]) => !PAIR_VALUE.test(name)) : [];
  const isSecret = texts.some(([, text]) => suggests(text));
  const entries = members.map(([name, inner]) => {
    if (own === 'settings' && VISIBLE_MEMBERS.has(name) && typeof inner === 'string') {
      return [name, inner];
    }
    const isKey = isPair && name === 'key' && MEMBER_NAME.test(String(inner)); // Names the value.
    const isHidden = own !== 'likely' || (isSecret && PAIR_VALUE.test(name)) || (isCredential(name) && !isKey);
    return [own === 'likely' || MEMBER_NAME.test(name) ? name : MASK, mask(inner, isHidden ? 'all' : 'likely')];
  });
  return Object.fromEntries(entries);
}

/** Whether a value is a name that suggests a credential. Longer texts are sentences. */
const suggests = (text: unknown): boolean => typeof text === 'string' && text.length <= 64 && isCredential(text);

/** Whether a text contains a private address. First looks for what all of them have, which takes little time. */
const isPrivate = (text: unknown): boolean =>
  typeof text === 'string' && /[@=]|hook/i.test(text) && PRIVATE_ADDRESS.test(toWords(text));
