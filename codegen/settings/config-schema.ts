import { z } from 'zod';
import { secret } from '../../src/settings/clients.ts';
import { SETTING_INFO } from '../../src/settings/setting.ts';
import { SETTINGS } from '../../src/settings/settings.ts';

/** Form of a secret in the configuration file, which never contains the secret itself. */
const SECRET_IN_FILE = {
  anyOf: ['env', 'file'].map((name) => ({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
    additionalProperties: false,
  })),
};

/** Writes the JSON Schema of the configuration file, for editors. */
export function writeConfigSchema(): string {
  const schema = z.toJSONSchema(z.strictObject(SETTINGS).partial(), {
    metadata: SETTING_INFO,
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      for (const key of ['flag', 'defaultText', 'isReloadable']) {
        delete jsonSchema[key];
      }
      if (zodSchema === secret) {
        Object.assign(jsonSchema, SECRET_IN_FILE);
      }
    },
  });
  return `${JSON.stringify({ title: 'Configuration of Notigraph', ...schema }, null, 2)}\n`;
}
