// The two that are compared: a sandbox of its own, and a running service, which gets the same records.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DEVELOPMENT, SANDBOX_KEYS } from '../../packages/sandbox/src/environments.ts';
import { DEFAULT_RATE_LIMIT } from '../../packages/sandbox/src/rate-limit.ts';
import type { Records, StepRecord } from '../../packages/sandbox/src/records.ts';
import { startServer } from '../../packages/sandbox/src/server.ts';
import { openService } from '../../packages/sandbox/src/service.ts';
import { respondWithTraits, type TraitName } from '../../packages/sandbox/src/traits.ts';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import type { Answer } from './differences.ts';
import type { Question } from './questions.ts';

/** Time in which the messages of an event arrive. */
const DELIVERY_MS = 60_000;

export interface Target {
  url: string;
  /** API key of an environment for tests. */
  key: string;
  /** API key of the production environment. Without one, what needs it isn't asked. */
  productionKey: string | undefined;
  /** Values that questions name, such as ids of records. */
  values: Map<string, string>;
}

/** Creates a target whose records have names of this run. */
export const createTarget = (run: string, access: Pick<Target, 'url' | 'key' | 'productionKey'>): Target => ({
  ...access,
  values: new Map([['run', run]]),
});

/** Starts a sandbox that has only these records. */
export async function startSandbox(
  run: string,
  records: Records,
  traits: readonly TraitName[],
): Promise<Target & AsyncDisposable> {
  const active = new Map(traits.map((name) => [name, new Set<unknown>()]));
  const clock = () => new Date();
  const service = await openService({
    file: ':memory:',
    rateLimit: DEFAULT_RATE_LIMIT,
    clock,
    samples: [],
    traits: active,
  });
  service.add(DEVELOPMENT, { notificationGroups: ['General'] }); // As each account of the service.
  service.add(DEVELOPMENT, records);
  const server = await startServer((request) => respondWithTraits(active, request, service.respond), '127.0.0.1', 0);
  const { development: key, production: productionKey } = SANDBOX_KEYS;
  return {
    ...createTarget(run, { url: server.url, key, productionKey }),
    async [Symbol.asyncDispose]() {
      await server.close();
      service[Symbol.dispose]();
    },
  };
}

/** Creates the records in a running service. @throws {Error} if it refuses one */
export async function createRecords(target: Target, records: Records): Promise<void> {
  async function create(path: string, body: object): Promise<string> {
    const answer = await ask(target, { ask: `POST ${path}`, body });
    const { _id } = recordOf(recordOf(answer.body).data);
    if (typeof _id !== 'string') {
      throw new Error(`The service did not create a record: POST ${path} was answered with ${JSON.stringify(answer)}.`);
    }
    return _id;
  }
  const ids = new Map<unknown, string>();
  for (const name of records.notificationGroups ?? []) {
    ids.set(name, await create('/v1/notification-groups', { name }));
  }
  for (const name of records.feeds ?? []) {
    ids.set(name, await create('/v1/feeds', { name }));
  }
  /** As the service's dashboard sends steps. */
  const toStep = ({ type, name = type, content, feed, template, ...step }: StepRecord) => {
    const variables = [...String(content).matchAll(/{{(\w+)}}/g)].map(([, variable]) => ({
      name: variable,
      type: 'String',
      required: false,
    }));
    const own = { type, subject: '', content, contentType: 'editor', variables, feedId: ids.get(feed), ...template };
    return { ...step, name, uuid: randomUUID(), template: own };
  };
  for (const { identifier: _, group, steps = [], active = true, ...workflow } of records.workflows ?? []) {
    const body = { ...workflow, active, notificationGroupId: ids.get(group), steps: steps.map(toStep) };
    await create('/v1/workflows', body);
  }
}

/** Sends a question, whose names are replaced by the target's values, and keeps values of the answer. */
export async function ask(target: Target, question: Question): Promise<Answer> {
  if (question.items !== undefined) {
    await awaitMessages(target, question.ask, question.items);
  }
  const answer = await send(target, question);
  for (const [name, path] of Object.entries(question.keep ?? {})) {
    const value = path.split('.').reduce<unknown>((found, part) => Object(found)[part], answer.body);
    target.values.set(name, typeof value === 'string' ? value : `missing-${name}`);
  }
  return answer;
}

/** Waits for messages in an inbox. Not by reading the inbox: the service keeps what it read while a message was being sent. */
async function awaitMessages(target: Target, inbox: string, count: number): Promise<void> {
  const [, person] = /\/subscribers\/([^/]+)\//.exec(inbox) ?? [];
  for (const until = Date.now() + DELIVERY_MS; Date.now() < until; await pause(50)) {
    const { body } = await send(target, { ask: `GET /v1/messages?channel=in_app&limit=100&subscriberId=${person}` });
    if (arrayOf(recordOf(body).data).length >= count) {
      return;
    }
  }
}

async function send({ url, key, productionKey, values }: Target, question: Question): Promise<Answer> {
  const { ask, body, as = 'development', headers } = question;
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (whole, name) => values.get(name) ?? whole);
  const [method = '', path = ''] = fill(ask).split(' ');
  const keys = { development: key, production: productionKey, unknown: 'unknown', none: undefined };
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(as !== 'none' && { authorization: `ApiKey ${keys[as]}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(headers && JSON.parse(fill(JSON.stringify(headers)))),
    },
    ...(body !== undefined && { body: fill(typeof body === 'string' ? body : JSON.stringify(body)) }),
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
