import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCredential } from '../../src/auth/identity.ts';
import { unwrap } from '../../src/upstream/declaration/response-form.ts';
import type { Endpoint, UpstreamError } from '../../src/upstream/errors.ts';
import { errorFromResponse, parseRetryAfter } from '../../src/upstream/transport/to-error.ts';
import { startGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';
import { sampleSize } from '../support/samples.ts';
import { formatResponse } from '../support/service.ts';

/** Any UTF-16 text, with more control characters, lone surrogates and nearly valid texts. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

describe('Retry-After', () => {
  const isSeconds = (seconds: number | undefined) =>
    seconds === undefined || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 999_999_999);

  it('is a non-negative integer or undefined for any header', () => {
    const nearly = fc.oneof(
      fc.double().map(String),
      fc.integer().map(String),
      fc.bigInt().map(String),
      fc.date().map((date) => date.toString()),
      fc.date().map((date) => date.toUTCString()),
      fc
        .tuple(fc.constantFrom('Mon, ', 'Sunday, ', ''), anyText, fc.constantFrom(' GMT', ''))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.oneof(anyText, nearly), fc.integer({ min: 0, max: 4e12 }), (header, now) =>
        isSeconds(parseRetryAfter(header, now)),
      ),
      { numRuns: sampleSize(300, 5_000) },
    );
  });

  it('is the number of seconds, or the time until the date', () => {
    fc.assert(
      fc.property(fc.nat({ max: 999_999_999 }), fc.constantFrom('', ' '), (seconds, space) => {
        expect(parseRetryAfter(`${space}${seconds}${space}`)).toBe(Math.max(1, seconds)); // Without a pause, callers would repeat at once.
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), fc.integer({ min: -1e6, max: 1e6 }), (at, ahead) => {
        const header = new Date((at + ahead) * 1_000).toUTCString();
        fc.pre(at + ahead >= 0);
        expect(parseRetryAfter(header, at * 1_000)).toBe(Math.max(1, ahead));
      }),
    );
  });

  it.each(['-1', '1.5', '+1', '1e3', '0x10', '', ' ', 'soon', 'tomorrow 5', '2026-01-01', 'Mon', '١'])(
    'is undefined for %j',
    (header) => {
      expect(parseRetryAfter(header)).toBeUndefined();
    },
  );
});

describe('the envelope of a body', () => {
  it('is removed once, and only if it is an envelope', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), (data, beside) => {
        const { data: _, _organizationId: __, ...rest } = beside;
        expect(unwrap({ ...rest, data })).toBe(data);
        const record = { ...rest, data, _organizationId: 'org' };
        expect(unwrap(record)).toBe(record);
        expect(unwrap(rest)).toBe(rest);
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue()), fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
        (value) => {
          expect(unwrap(value)).toBe(value);
        },
      ),
    );
  });

  it('is not read from a prototype', () => {
    const parsed: unknown = JSON.parse('{ "__proto__": { "data": 1 } }');
    expect(unwrap(parsed)).toBe(parsed);
  });
});

describe('a credential', () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
  });
  const nearly = fc.oneof(
    fc.tuple(
      fc.constantFrom('ApiKey ', 'ApiKey  ', 'apikey ', 'Bearer ', 'ApiKey', '', ' ApiKey '),
      fc.oneof(visible, anyText),
    ),
    fc.tuple(
      visible.map((key) => `ApiKey ${key}`),
      anyText,
    ),
  );

  it('consists of ApiKey, one space and visible ASCII characters', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          nearly.map((parts) => parts.join('')),
        ),
        (header) => {
          const key = header.startsWith('ApiKey ') ? header.slice('ApiKey '.length) : '';
          const isVisible = key !== '' && [...key].every((character) => character > ' ' && character < '\x7f');
          expect(isCredential(header)).toBe(isVisible);
        },
      ),
      { numRuns: sampleSize(300, 5_000) },
    );
  });

  it('arrives upstream byte for byte', async () => {
    await using gateway = await startGateway({ service: (_, { answer }) => answer({ body: { data: workflow() } }) });
    const send = async (key: string) => {
      await gateway.data('{ workflow(idOrIdentifier: "w1") { id } }', {}, { authorization: `ApiKey ${key}` });
      expect(gateway.service.requests.at(-1)?.head).toContain(`\r\nauthorization: ApiKey ${key}\r\n`);
    };
    await fc.assert(fc.asyncProperty(visible, send), { numRuns: 100 });
    await send('"\'<>&%0d%0a\\;,:=');
  });
});

interface FailureCase {
  endpoint: Endpoint;
  status: number;
  body: unknown;
  idempotencyKey: string | undefined;
  retryAfter: string | undefined;
}

describe('the body of a failure', () => {
  const SECRET = 'k3y0';
  const endpoints: Endpoint[] = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({
    method,
    route: '/v1/feeds/{feedId}',
  }));
  /** Texts, some of which contain the key. */
  const text = fc.oneof(
    anyText,
    fc.tuple(anyText, anyText).map((around) => around.join(SECRET)),
    fc.constant('x'.repeat(600)),
  );
  const { message } = fc.letrec((tie) => ({
    message: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.jsonValue(),
      fc.array(tie('message'), { maxLength: 30 }),
      fc.record({ message: tie('message'), messages: tie('message') }, { requiredKeys: [] }),
    ),
  }));
  const body = fc.oneof(
    fc.record({ message, errorId: text, error: text, path: text, stack: text }, { requiredKeys: [] }),
    fc.jsonValue(),
    fc.constant(undefined),
  );
  const failure: fc.Arbitrary<FailureCase> = fc.record({
    endpoint: fc.constantFrom(...endpoints),
    status: fc.oneof(fc.integer({ min: 300, max: 999 }), fc.constantFrom(400, 401, 403, 404, 409, 422, 429, 500, 503)),
    body,
    idempotencyKey: fc.constantFrom(undefined, 'a'.repeat(64)),
    retryAfter: fc.option(anyText, { nil: undefined }),
  });

  const fail = ({ endpoint, status, body, idempotencyKey, retryAfter }: FailureCase) =>
    errorFromResponse(
      {
        endpoint,
        credential: `ApiKey ${SECRET}`,
        path: '/v1/feeds',
        args: { body: { name: '', constructor: '' }, idempotencyKey },
      },
      { status, body: { form: 'json', json: body }, retryAfter },
    );

  /** Checks that a text is a single readable line. */
  function expectSentence(sentence: string): void {
    expect(sentence).not.toBe('');
    expect(sentence.length).toBeLessThanOrEqual(500);
    expect(sentence).not.toMatch(/\p{Cc}/u);
    expect(sentence.isWellFormed()).toBe(true);
    expect(sentence).not.toContain(SECRET);
  }

  it('becomes an error with readable messages of at most 500 characters, without the key', () => {
    fc.assert(
      fc.property(failure, (given) => {
        const error: UpstreamError = fail(given);
        expectSentence(error.message);
        for (const issue of error.issues) {
          expectSentence(issue.message);
          expect(['', 'name', 'constructor']).toContain(issue.path.join('.'));
        }
        expect(error.errorId ?? '').toMatch(/^[\w.:-]{0,100}$/);
        expect(error.errorId ?? '').not.toContain(SECRET);
        expect(error.outcome === undefined).toBe(given.endpoint.method === 'GET');
      }),
      { numRuns: sampleSize(150, 3_000) },
    );
  });

  it('is only passed on for statuses that a client can act on', () => {
    fc.assert(
      fc.property(failure, (given) => {
        fc.pre(![400, 401, 403, 404, 409, 422].includes(given.status));
        const { message } = fail({ ...given, body: undefined });
        expect(fail(given).message).toBe(message);
      }),
      { numRuns: sampleSize(150, 2_000) },
    );
  });
});

it('a response of any bytes results in data or an error with an upstream error code', async () => {
  const whole = Buffer.from(formatResponse({ body: { data: workflow() } }));
  let sent: Uint8Array = whole;
  await using gateway = await startGateway(
    {
      service: (_, { send, end }) => {
        send(sent);
        end();
      },
      maxRetries: 0,
      attemptTimeoutMs: 1_000,
    },
    { breakerMinimumCalls: 1e5 },
  );
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat({ max: whole.length }).map((length) => whole.subarray(0, length)),
    fc
      .array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 })
      .map((changes) => changes.reduce((bytes, [at, byte]) => bytes.with(at, byte), new Uint8Array(whole))),
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.concat([whole, bytes])),
  );
  const run = async (bytes: Uint8Array) => {
    sent = bytes;
    const { status, body } = await gateway.send('{ workflow(idOrIdentifier: "w1") { id name active } }');
    expect(status).toBe(200);
    const [error] = body.errors ?? [];
    if (error !== undefined) {
      expect(error.extensions?.code).toMatch(
        /^(?:UPSTREAM_\w+|BAD_USER_INPUT|UNAUTHENTICATED|FORBIDDEN|RATE_LIMITED)$/,
      );
    }
  };
  await fc.assert(fc.asyncProperty(anyBytes, run), { numRuns: sampleSize(30, 500) });
  await run(whole);
});
