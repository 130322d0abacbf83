import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialFilter } from '../../src/upstream/errors/credential-filter.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type ScriptedResponse, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let response: ScriptedResponse;

beforeAll(async () => {
  upstream = await startScriptedUpstream(() => response);
  gateway = await startGateway({ upstream: upstream.url });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const READ = 'query { workflow(idOrIdentifier: "w1") { id } }';
const CREATE = `mutation { createFeed(input: { name: "a" }) {
  ... on MutationError { message } ... on InvalidInputError { issues { message } } } }`;

/** Sends an operation that fails with this response. Returns the body, and all text that the client and the log receive. */
async function failWith(key: string, failure: ScriptedResponse, document = READ) {
  response = failure;
  const from = gateway.log.length;
  const { body } = await gateway.send(document, {}, { authorization: `ApiKey ${key}` });
  return { body, revealed: JSON.stringify([body, gateway.log.slice(from)]) };
}

/** Statuses whose message is passed on, and one whose error id is. */
const STATUSES = [400, 401, 403, 409, 422, 500];

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const key = fc.array(visible, { minLength: 8, maxLength: 80 }).map((characters) => characters.join(''));
const text = fc.string({ unit: 'grapheme', maxLength: 40 });

const percent = (character: string, upper: boolean) => {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `%${upper ? hex.toUpperCase() : hex}`;
};

/** Encodings of the key, together with the text before and after it. */
const ENCODINGS: Record<string, (key: string, before: string, after: string, bits: readonly boolean[]) => string> = {
  plain: (secret) => secret,
  'upper case': (secret) => secret.toUpperCase(),
  'lower case': (secret) => secret.toLowerCase(),
  base64: (secret, before, after) => Buffer.from(before + secret + after).toString('base64'),
  'base64 without padding': (secret, before, after) =>
    Buffer.from(before + secret + after)
      .toString('base64')
      .replace(/=+$/, ''),
  'base64 in lines': (secret, before, after) =>
    Buffer.from(before + secret + after)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n'),
  base64url: (secret, before, after) => Buffer.from(before + secret + after).toString('base64url'),
  'base64, then percent-encoded': (secret, before, after) =>
    encodeURIComponent(Buffer.from(before + secret + after).toString('base64')),
  hex: (secret, before, after) => Buffer.from(before + secret + after).toString('hex'),
  'upper hex': (secret, before, after) =>
    Buffer.from(before + secret + after)
      .toString('hex')
      .toUpperCase(),
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'all percent-encoded': (secret) => [...secret].map((character) => percent(character, true)).join(''),
  'partly percent-encoded': (secret, _before, _after, bits) =>
    [...secret]
      .map((character, i) => (bits[i % bits.length] ? percent(character, (bits[i] ?? false) === bits[0]) : character))
      .join(''),
};

describe('a credential that the service repeats', () => {
  it.each(Object.entries(ENCODINGS))('is never revealed: %s', async (_, encode) => {
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
          const sentence = `${prefix}${encoded}${suffix}`;
          const body = { message: ['Ordinary words.', sentence], errorId: encoded };
          for (const document of status === 422 ? [READ, CREATE] : [READ]) {
            const { revealed } = await failWith(secret, { status, body }, document);
            expect(revealed).not.toContain(JSON.stringify(secret).slice(1, -1));
            expect(revealed).not.toContain(JSON.stringify(encoded).slice(1, -1));
            expect(revealed.includes('Ordinary words.')).toBe(status < 500);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is found after an incomplete percent-encoding', () => {
    for (const start of ['%', '%4', '100%', '%%', '%2']) {
      expect(createCredentialFilter('ApiKey 1f4b9-key-of-acme')(`${start}1f4b9-ke%79-of-acme`)).toBe(false);
    }
  });

  it('is found even if some of its own percent signs are encoded', () => {
    const secret = 'a%41b%42c%2543d';
    for (const encoded of [
      'a%41b%42c%2543d',
      '%61%41b%2542c%2543d',
      'a%2541%62%42c%252543d',
      'a%2541b%2542c%252543%64',
    ]) {
      expect(createCredentialFilter(`ApiKey ${secret}`)(`x${encoded}y`)).toBe(false);
    }
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
      { numRuns: 60 },
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
  ['a', 'The key a is unknown.'],
  ['k1', 'Unknown: "K1".'],
  ['abc', 'ApiKey abc'],
  ['abc', `Authorization was ${Buffer.from('ApiKey abc').toString('base64')}`],
  ['abc', `header=${Buffer.from('x: ApiKey abc').toString('hex')}`],
  ['acme', 'The key of acmecorp is unknown.'],
])('the short key %j is not revealed by %j', async (short, sentence) => {
  const { body } = await failWith(short, { status: 401, body: { message: sentence } });
  expect(body.errors?.[0]?.message).toBe('The notification service does not accept this API key.');
});

it('at most 20 messages of a response are read, even if they are nested', async () => {
  const message = Array.from({ length: 20 }, () => Array.from({ length: 20 }, (_, i) => `s${i}`));
  const { body } = await failWith('key-of-acme', { status: 400, body: { message } });
  expect(body.errors?.[0]?.message.split('; ')).toHaveLength(20);
});

it('filtering takes less than 100 ms for a key and a text of the maximum length', () => {
  for (const secret of ['a'.repeat(2_047), `${'a'.repeat(2_047)}b`, `b${'a'.repeat(2_047)}`, '%25'.repeat(600)]) {
    const filter = createCredentialFilter(`ApiKey ${secret}`);
    for (const pattern of ['a', 'ab', '%', '%25', '%61', 'YWFh', '6161', ' ']) {
      const text = pattern.repeat((64 * 1024) / pattern.length);
      let fastest = Number.POSITIVE_INFINITY; // Takes the minimum, because a busy machine only adds time.
      for (let run = 0; run < 10 && fastest >= 100; run += 1) {
        const before = process.threadCpuUsage();
        filter(text);
        const { user, system } = process.threadCpuUsage(before);
        fastest = Math.min(fastest, (user + system) / 1_000);
      }
      expect(fastest).toBeLessThan(100);
    }
  }
});
