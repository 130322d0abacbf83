import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { sampleSize } from '../support/samples.ts';
import type { ServiceResponse } from '../support/service.ts';

guards('src/lib/credential-filter.ts', 'createCredentialFilter.comparisons.strip');
guards('src/lib/credential-filter.ts', 'createFinder');
guards('src/lib/credential-filter.ts', 'decodedForms');
guards('src/upstream/transport/reasons.ts', 'readReasons.read');
guards('src/upstream/transport/to-error.ts', 'readErrorId');

let response: ServiceResponse;
const gateway = ofFile(await startGateway({ service: () => response }));

const READ = 'query { workflow(idOrIdentifier: "w1") { id } }';
const CREATE = `mutation { createFeed(input: { name: "a" }) {
  ... on MutationError { message } ... on InvalidInputError { issues { message } } } }`;

/** Sends an operation that fails with this response. Returns the body, and all text that the client and the log receive. */
async function failWith(key: string, failure: ServiceResponse, document = READ) {
  response = failure;
  gateway.advance(1); // A refused key isn't sent again for a second.
  const from = gateway.log.length;
  const { body } = await gateway.send(document, {}, { authorization: `ApiKey ${key}` });
  return { body, revealed: JSON.stringify([body, gateway.log.slice(from)]) };
}

/** Statuses whose message is passed on, and one whose error id is. */
const STATUSES = [400, 401, 403, 409, 422, 500];

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
/** Parts of a key that look like an escape, or like a part of one. */
const escapeLike = fc.constantFrom(
  '%41',
  '%25',
  '%',
  '\\x00',
  '\\x41',
  '\\u0041',
  '&#65;',
  '&#x41;',
  '&amp;',
  '&shy;',
  '#',
  ';',
);
const key = fc
  .array(fc.oneof({ weight: 9, arbitrary: visible }, { weight: 1, arbitrary: escapeLike }), {
    minLength: 12,
    maxLength: 80,
  })
  .map((parts) => parts.join(''));
const text = fc.string({ unit: 'grapheme', maxLength: 40 });

const percent = (character: string, upper: boolean) => {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `%${upper ? hex.toUpperCase() : hex}`;
};

type Encode = (key: string, before: string, after: string, bits: readonly boolean[]) => string;

const encoded =
  (encoding: BufferEncoding): Encode =>
  (secret, before, after) =>
    Buffer.from(before + secret + after).toString(encoding);

/** Encodings of the key, together with the text before and after it. */
const ENCODINGS: Record<string, Encode> = {
  plain: (secret) => secret,
  'upper case': (secret) => secret.toUpperCase(),
  'lower case': (secret) => secret.toLowerCase(),
  base64: encoded('base64'),
  'base64 without padding': (...text) => encoded('base64')(...text).replace(/=+$/, ''),
  'base64 in lines': (...text) => encoded('base64')(...text).replace(/.{76}/g, '$&\r\n'),
  base64url: encoded('base64url'),
  'base64, then percent-encoded': (...text) => encodeURIComponent(encoded('base64')(...text)),
  hex: encoded('hex'),
  'upper hex': (...text) => encoded('hex')(...text).toUpperCase(),
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'all percent-encoded': (secret) => [...secret].map((character) => percent(character, true)).join(''),
  'partly percent-encoded': (secret, _before, _after, bits) =>
    [...secret]
      .map((character, i) => (bits[i % bits.length] ? percent(character, (bits[i] ?? false) === bits[0]) : character))
      .join(''),
};

it.each(Object.entries(ENCODINGS))('a credential that the service repeats is never revealed: %s', async (_, encode) => {
  await fc.assert(
    fc.asyncProperty(
      key,
      fc.constantFrom('', 'x', 'xy', 'Authorization: ApiKey ', 'user:', 'é'),
      fc.constantFrom('', 'z', 'zz', '"', '\r\n'),
      fc.tuple(text, text),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...STATUSES),
      async (secret, before, after, [prefix, suffix], bits, status) => {
        const encoded = encode(secret, before, after, bits);
        const sentence = `${prefix} ${encoded} ${suffix}`;
        const body = { message: ['Ordinary words.', sentence], errorId: encoded };
        for (const document of status === 422 ? [READ, CREATE] : [READ]) {
          const { revealed } = await failWith(secret, { status, body }, document);
          expect(revealed).not.toContain(JSON.stringify(secret).slice(1, -1));
          expect(revealed).not.toContain(JSON.stringify(encoded).slice(1, -1));
          expect(revealed.includes('Ordinary words.')).toBe(status < 500);
        }
      },
    ),
    { numRuns: sampleSize(6, 60) },
  );
});

/** Returns a text with each of its characters replaced. */
const each = (replace: (character: string, code: number) => string) => (part: string) =>
  [...part].map((character) => replace(character, character.charCodeAt(0))).join('');

/** Forms in which a service can quote 12 characters of a key. */
const FORMS: Record<string, (part: string) => string> = {
  plain: (part) => part,
  'in another case': (part) => part.toUpperCase(),
  'cut, with an ellipsis': (part) => `${part}…`,
  'with dots': each((character) => `${character}.`),
  'with zero-width spaces': each((character) => `${character}\u200b`),
  'with soft hyphens': each((character) => `${character}\u00ad`),
  'with combining accents': each((character) => `${character}\u0301`),
  'in fullwidth characters': each((_, code) => String.fromCharCode(code + 0xfee0)),
  'in decimal HTML entities': each((_, code) => `&#${code};`),
  'in hexadecimal HTML entities': each((_, code) => `&#x${code.toString(16)};`),
  'in HTML entities, escaped again': each((_, code) => `&amp;#0${code};`),
  'with invisible HTML entities': each((character) => `${character}&shy;&#8203;&#x200B;`),
  'with escapes of JSON': each((_, code) => `\\u00${code.toString(16)}`),
  'percent-encoded': each((character) => percent(character, true)),
  'percent-encoded twice': each((character) => percent(character, false).replace('%', '%25')),
  'in Base64': (part) => Buffer.from(part).toString('base64'),
  'in Base64 with zero-width spaces': (part) => Buffer.from(part).toString('base64').replace(/./g, '$&\u200b'),
  'in Base64 without padding': (part) => Buffer.from(`:${part}`).toString('base64').replace(/=+$/, ''),
  'in hexadecimal': (part) => Buffer.from(part).toString('hex'),
};

describe('12 consecutive characters of a credential', () => {
  const secret = 'Ab3-dEf6hIj_9lMn2pQ/r5tUv8xYz1';
  const letters = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1';

  it.each(Object.entries(FORMS))('are not revealed: %s', async (_, form) => {
    for (const [whole, start] of [
      [secret, 0],
      [secret, 7],
      [secret, secret.length - 12],
      [letters, 3],
    ] as const) {
      const part = whole.slice(start, start + 12);
      // If separators are ignored, those of the key don't count.
      const quoted = form(whole === secret && form('a').startsWith('a.') ? secret : part);
      for (const sentence of [`Unknown key "${quoted}".`, quoted]) {
        const { body } = await failWith(whole, { status: 401, body: { message: sentence } });
        expect(body.errors?.[0]?.message).toBe('The notification service does not accept this API key.');
      }
    }
  });

  it.each<[string, (part: string) => string]>([
    ['percent-encoded', each((character) => percent(character, true))],
    ['percent-encoded twice', each((character) => percent(character, true).replace('%', '%25'))],
    ['in decimal HTML entities', each((_, code) => `&#${code};`)],
    ['with its ampersand as an HTML entity', (part) => part.replace('&', '&amp;')],
  ])('are not revealed if some of them look like an HTML entity: %s', async (_, form) => {
    for (const like of ['Ab3-&shy;9lMn', '!!!!&AAA;!!!']) {
      const { body } = await failWith(like, { status: 401, body: { message: `Unknown key ${form(like)}` } });
      expect(body.errors?.[0]?.message).toBe('The notification service does not accept this API key.');
    }
  });

  it('are not revealed in the id of a failure', async () => {
    const { body } = await failWith(secret, { status: 500, body: { errorId: `e-${secret.slice(0, 12)}` } });
    expect(body.errors?.[0]?.extensions).not.toHaveProperty('errorId');
  });

  it('are revealed if one is missing, or white space is between them', async () => {
    for (const quoted of [letters.slice(0, 11), `${letters.slice(0, 8)} ${letters.slice(8, 16)}`]) {
      const { body } = await failWith(letters, { status: 401, body: { message: `Unknown key ${quoted}` } });
      expect(body.errors?.[0]?.message).toBe(`Unknown key ${quoted}`);
    }
  });

  it('cannot be guessed by sending them, because a service that quotes its input is passed on in any case', async () => {
    const known = secret.slice(0, 11);
    for (const guess of [...'_a0'].map((next) => known + next)) {
      const [taken, invalid] = [`Feed "${guess}" already exists.`, `Invalid id ${encodeURIComponent(guess)}`];
      const create = `mutation { createFeed(input: { name: "${guess}" }) { ... on MutationError { message } } }`;
      const { body } = await failWith(secret, { status: 409, body: { message: taken } }, create);
      expect(body.data).toEqual({ createFeed: { message: taken } });
      const read = `query { workflow(idOrIdentifier: "${guess}") { id } }`;
      const { body: failed } = await failWith(secret, { status: 400, body: { message: invalid } }, read);
      expect(failed.errors?.[0]?.message).toBe(invalid);
    }
  });

  it('are not revealed together with others that the request contains', async () => {
    const message = `Feed "${secret.slice(0, 12)}" of ${secret.slice(8, 20)}`;
    const create = `mutation { createFeed(input: { name: "${secret.slice(0, 12)}" }) { ... on MutationError { message } } }`;
    const { body } = await failWith(secret, { status: 409, body: { message } }, create);
    expect(body.data).toEqual({
      createFeed: { message: 'The request conflicts with the current state of the record.' },
    });
  });
});

describe('a message of the service without the credential', () => {
  const sentences = [
    'name must be shorter than or equal to 40 characters',
    'Feed "Sale: 50% off (ab%20cd)" already exists.',
    'The value of 6e616d65 is not valid, nor is bmFtZQ== or a-b_c.',
    'Subscriber limit reached: 100 % used; see https://docs.example.com/a%2Fb?x=1#y.',
    'Ünïcödé ist hier erlaubt, 日本語も。',
  ];

  it('is passed on unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(key, fc.constantFrom(...sentences), async (secret, sentence) => {
        const { body } = await failWith(secret, { status: 400, body: { message: sentence } });
        expect(body.errors?.[0]?.message).toBe(sentence);
      }),
      { numRuns: sampleSize(6, 60) },
    );
  });

  it('is passed on even if a short key is part of its words', async () => {
    for (const short of ['a', 'na', 'ame', '.', '4', '%', '"']) {
      const { body } = await failWith(short, { status: 400, body: { message: sentences[0] } });
      expect(body.errors?.[0]?.message).toBe(sentences[0]);
    }
  });
});

it.each([
  ['abc', 'ApiKey abc'],
  ['abc', `Authorization was ${Buffer.from('ApiKey abc').toString('base64')}`],
  ['abc', `header=${Buffer.from('x: ApiKey abc').toString('hex')}`],
  ['acme', 'The key of acmecorp is unknown.'],
  ['k1-of-acme', 'Unknown: K1-OF-ACME'],
  ['k1-of-acme', `Unknown: ${Buffer.from('k1-of-acme').toString('base64')}`],
  ['!?#$%&*;:@', 'Unknown: !?#$%&*;:@'],
])('the short key %j is not revealed by %j', async (short, sentence) => {
  const { body } = await failWith(short, { status: 401, body: { message: sentence } });
  expect(body.errors?.[0]?.message).toBe('The notification service does not accept this API key.');
});

it('a short key is not revealed where a long message is cut', async () => {
  const message = `${'- '.repeat(245)}k1-of-acme is unknown.`;
  const { body } = await failWith('k1-of-acme', { status: 401, body: { message } });
  expect(body.errors?.[0]?.message).toBe('The notification service does not accept this API key.');
});

it.each(['k1-of-acme', 'Ab3-dEf6hIj_9lMn2pQ/r5tUv8xYz1'])(
  'no part of the key %s is revealed where the texts of a response are too long to be read',
  async (key) => {
    for (let length = 900; length <= 1_000; length += 1) {
      const others = [990, 990, 990, length].map((size) => '- '.repeat(500).slice(0, size));
      const { revealed } = await failWith(
        key,
        { status: 422, body: { message: [...others, `Unknown: ${key}`] } },
        CREATE,
      );
      expect(revealed).not.toContain('Unknown');
      expect(revealed).toContain('- - ');
    }
    for (const blank of ['\u0001', ' ', '\ud800']) {
      for (let length = 960; length <= 1_000; length += 1) {
        const message = `${blank.repeat(length - 9)}Unknown: ${key}`;
        const { revealed } = await failWith(key, { status: 422, body: { message } }, CREATE);
        expect(revealed).not.toContain('Unknown');
      }
    }
  },
);

it('at most 20 messages of a response are read, even if they are nested', async () => {
  const message = Array.from({ length: 20 }, () => Array.from({ length: 20 }, (_, i) => `s${i}`));
  const { body } = await failWith('key-of-acme', { status: 400, body: { message } });
  expect(body.errors?.[0]?.message.split('; ')).toHaveLength(20);
});
