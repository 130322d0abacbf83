// The two environments, and their API keys.

/** An isolated set of records. A request sees only the records of the environment its API key belongs to. */
export interface Environment {
  readonly name: 'development' | 'production';
  readonly id: string;
  /** Members of all its records. */
  readonly owner: { readonly _organizationId: string; readonly _environmentId: string };
  /** Id of the user shown as the creator of workflows and templates. */
  readonly creatorId: string;
}

export const SANDBOX_KEYS = {
  development: 'sandbox-development-key',
  production: 'sandbox-production-key',
} as const;

const createEnvironment = (name: Environment['name'], id: string): Environment => ({
  name,
  id,
  owner: { _organizationId: '65f0000000000000000000a1', _environmentId: id },
  creatorId: '65f0000000000000000000c1',
});

/** Environment with the samples of examples and documentation. */
export const DEVELOPMENT = createEnvironment('development', '65f0000000000000000000d1');
/** Environment with other samples, to show that environments are separate. */
export const PRODUCTION = createEnvironment('production', '65f0000000000000000000e1');

export const ENVIRONMENTS = [DEVELOPMENT, PRODUCTION];

/** Returns a record with the members that all records of its environment have. */
export const owned = <Fields extends object>(environment: Environment, fields: Fields) => ({
  ...fields,
  ...environment.owner,
});

/** Returns the environment of an `Authorization` header, or undefined if the key is unknown. */
export const findEnvironment = (authorization: string | undefined): Environment | undefined =>
  ENVIRONMENTS.find(({ name }) => authorization === `ApiKey ${SANDBOX_KEYS[name]}`);
