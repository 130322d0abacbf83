import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createTestGateway } from 'notigraph/testing';
import { registerCustomer } from './register-customer.ts';

const gateway = await createTestGateway({ records: {} });
const ada = { id: 'customer-1', firstName: 'Ada', email: 'ada@example.com' };

afterEach(() => gateway.reset());

test('sends the change again with the same key if its outcome is unknown', async () => {
  gateway.fail('POST /v1/subscribers', 'timeout', { times: 1, applied: true });
  assert.deepEqual(await registerCustomer(gateway.client, ada), []);

  const [first, second] = gateway.calls;
  assert.equal(gateway.calls.length, 2);
  assert.deepEqual([first?.status, second?.status], [undefined, 201]);
  assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
});

test('gives up after the second time', async () => {
  gateway.fail('POST /v1/subscribers', 'disconnect');
  await assert.rejects(registerCustomer(gateway.client, ada), /Check before sending it again/);
  assert.equal(gateway.calls.length, 2);
});

test('returns the problems of invalid input', async () => {
  const problems = await registerCustomer(gateway.client, { ...ada, email: 'nobody' });
  assert.deepEqual(problems, ['"email" must be an email address.']);
});
