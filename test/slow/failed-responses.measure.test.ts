import ts from 'typescript';
import { expect, it } from 'vitest';
import { errorFromResponse } from '../../src/upstream/transport/to-error.ts';
import { measureCheapest, postWithKey, startTarget } from '../support/attack.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { guards } from '../support/guards.ts';
import { listSources, readSource } from '../support/imports.ts';
import { ofFile } from '../support/lifetime.ts';
import { startService } from '../support/service.ts';

guards('src/upstream/transport/reasons.ts', 'readReasons.read');

/** CPU time for a failed response of 40 KB, in milliseconds: about five times what it takes, for slow processors. */
const MAX_CPU_MS = 5;

const BYTES = 40 * 1024;
const ITEMS = 100;

const fill = (text: string, bytes = BYTES): string => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);

const SENTENCE = 'The member email of item 7 is not a valid address in the environment of production. ';

/** Bodies of failed responses, by the kind of text in them. */
const BODIES: Record<string, object> = {
  'one sentence': { message: fill(SENTENCE) },
  'twenty sentences': { message: Array.from({ length: 20 }, () => fill(SENTENCE, BYTES / 20)) },
  'sentences per field': {
    errors: Object.fromEntries(
      fill(SENTENCE)
        .match(/.{1,80}/g)
        ?.map((text, i) => [`f${i}`, [text]]) ?? [],
    ),
  },
  'paths of fields': {
    errors: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [fill(`a${i}.`, 130), ['x']])),
  },
  'objects without a text': { errors: Array(20).fill(Array(20).fill(Array(5).fill({ field: 'a' }))) },
  punctuation: { message: fill('.') },
  escapes: { message: Array.from({ length: 20 }, () => fill('&x;.%41%2541&#97;', BYTES / 20)) },
};

let response: { status: number; body: object } = { status: 400, body: {} };
const upstream = ofFile(await startService(() => response));
const gateway = ofFile(await startTarget(upstream.url));

const bulk = postWithKey(
  `mutation ($s: [CreateSubscriberInput!]!) { createSubscribers(input: { subscribers: $s }) { failed } }`,
  { variables: { s: Array.from({ length: ITEMS }, (_, i) => ({ subscriberId: `u${i}` })) } },
);

/** Returns the CPU time of a bulk mutation whose items all fail. */
async function costOf(status: number, body: object, isEnough: (cpuMs: number) => boolean): Promise<number> {
  response = { status, body: { statusCode: status, ...body } };
  const { cpuMs, text } = await measureCheapest(gateway, () => bulk, {
    size: 1,
    isEnough: (cost) => isEnough(cost.cpuMs),
  });
  expect(JSON.parse(text)).toEqual({ data: { createSubscribers: { failed: ITEMS } } });
  return cpuMs;
}

/** CPU time of the mutation with responses that have nothing to read. */
const emptyMs = await costOf(402, {}, () => false);

it.each(Object.entries(BODIES))('each of 100 failed responses with 40 KB of %s costs little', async (_, body) => {
  expect(JSON.stringify(body).length).toBeLessThan(64 * 1024);
  const maxCpuMs = emptyMs + ITEMS * MAX_CPU_MS;
  for (const status of [400, 402]) {
    const cpuMs = await costOf(status, body, (cost) => cost < maxCpuMs);
    expect(cpuMs, `status ${status}`).toBeLessThan(maxCpuMs);
  }
});

it.each(['twenty sentences', 'escapes'])('%s are only read for a status whose message is shown', async (kind) => {
  const [shownMs, hiddenMs] = [
    await costOf(400, BODIES[kind] ?? {}, () => false),
    await costOf(402, BODIES[kind] ?? {}, () => false),
  ];
  expect(hiddenMs - emptyMs).toBeLessThan((shownMs - emptyMs) / 2);
});

it('a failed response costs little, also if it and the request repeat parts of the key', async () => {
  for (const secret of [
    'a'.repeat(2_047),
    `b${'a'.repeat(2_046)}`,
    '%25'.repeat(600),
    'ab3dEf6hIj9lMn2pQr5tUv8xYz1kLm4nOp',
  ]) {
    for (const text of [
      'a',
      'ab',
      '%25',
      '%61',
      '&#97;',
      'YWFh',
      '6161',
      '&#',
      '\u007f0',
      '\ufdfa',
      `&x;.%2541${secret}`,
      secret.slice(0, 13),
    ]) {
      const message = Array.from({ length: 20 }, () => fill(text, 2_000));
      const body = { name: fill(text, 4_000) };
      const fail = () =>
        errorFromResponse(
          {
            endpoint: { method: 'POST', route: '/v1/feeds' },
            credential: `ApiKey ${secret}`,
            path: '/v1/feeds',
            args: { body },
          },
          { status: 400, body: { form: 'json', json: { message } }, retryAfter: undefined },
        );
      let fastest = Number.POSITIVE_INFINITY; // Takes the minimum, because a busy machine only adds time.
      for (let run = 0; run < 10 && fastest >= MAX_CPU_MS; run += 1) {
        const { cpuMs } = await measureCpu(() => Array.from({ length: 5 }, fail)); // The clock is coarse on some machines.
        fastest = Math.min(fastest, cpuMs / 5);
      }
      expect(fastest, `${secret.slice(0, 9)} ${text.slice(0, 20)}`).toBeLessThan(MAX_CPU_MS);
    }
  }
});

/** Returns the regular expressions of the gateway. Those of the command read texts of the operator. */
const expressions = ['src', 'packages/cli/src/server'].flatMap(listSources).flatMap((file) => {
  const found: RegExp[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, source = '', flags] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
      found.push(new RegExp(source, flags));
    }
    ts.forEachChild(node, collect);
  };
  collect(ts.createSourceFile(file, readSource(file), ts.ScriptTarget.Latest));
  return found;
});

/** Beginnings, repeated parts and ends of texts that make an expression try again from each character. */
const HEADS = ['', 'a', ';', '"'];
const PARTS = [
  '.',
  'a',
  '0',
  ' ',
  '%',
  '&',
  '&#',
  '\\',
  '"',
  ';',
  ',',
  '[',
  '-',
  ':',
  '{',
  '/',
  'é',
  'a.',
  'a ',
  '"a',
  ', ',
  '[a](',
  '\\"',
  '2:',
];
const ENDS = ['', '!', 'a'];

it('no regular expression takes more than linear time', () => {
  expect(expressions.length).toBeGreaterThan(90);
  for (const part of PARTS) {
    for (const text of HEADS.flatMap((head) => ENDS.map((end) => head + fill(part) + end))) {
      for (const expression of expressions) {
        let fastest = Number.POSITIVE_INFINITY;
        for (let run = 0; run < 5 && fastest >= 50; run += 1) {
          const startedAt = performance.now();
          text.split(expression); // From each character, also without the flag g.
          fastest = performance.now() - startedAt;
        }
        expect(fastest, `${expression} with ${JSON.stringify(text.slice(0, 9))}`).toBeLessThan(50); // Otherwise, about 500.
      }
    }
  }
});
