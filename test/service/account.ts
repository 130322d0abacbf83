// Creates an account in a running service, through the service's own API.

import { arrayOf, recordOf } from '../../src/lib/is-record.ts';

export interface Account {
  /** API key of the development environment. */
  key: string;
  productionKey: string;
}

/** Registers a person with an organization, whose environments the service creates. @throws {Error} if the service refuses a step */
export async function signUp(url: string): Promise<Account> {
  let authorization: string | undefined;

  async function call(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<unknown> {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`The service did not create an account: ${method} ${path} was ${response.status} ${text}`);
    }
    return recordOf(JSON.parse(text)).data;
  }

  const name = `notigraph-${Date.now().toString(36)}`;
  const person = { firstName: 'Notigraph', lastName: 'Tests', email: `${name}@example.com`, password: 'Passw0rd!123' };
  authorization = `Bearer ${recordOf(await call('POST', '/auth/register', person)).token}`;
  const { _id: organization } = recordOf(await call('POST', '/organizations', { name, jobTitle: 'engineer' }));
  const token = await call('POST', `/auth/organizations/${organization}/switch`, {});
  authorization = `Bearer ${typeof token === 'string' ? token : recordOf(token).token}`;
  const environments = arrayOf(await call('GET', '/environments')).map(recordOf);

  async function keyOf(environment: string): Promise<string> {
    const id = String(environments.find((each) => each.name === environment)?._id);
    const keys = arrayOf(await call('GET', '/environments/api-keys', undefined, { 'novu-environment-id': id }));
    const { key } = recordOf(keys[0]);
    if (typeof key !== 'string') {
      throw new Error(`The service has no API key of the environment ${environment}.`);
    }
    return key;
  }
  return { key: await keyOf('Development'), productionKey: await keyOf('Production') };
}
