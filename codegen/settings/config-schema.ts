import { z } from 'zod';
import { publicKey, redisUrl, secret } from '../../src/settings/clients.ts';
import { SETTING_INFO } from '../../src/settings/setting.ts';
import { SETTINGS } from '../../src/settings/settings.ts';

/** Form of a value that is in an environment variable or a file. */
const reference = (name: 'env' | 'file') => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});

/** Returns how the configuration file writes a setting, if that differs from the option. */
function inFile(schema: unknown, { type }: { type?: unknown }): object | undefined {
  switch (schema) {
    case secret:
      return { anyOf: [reference('env'), reference('file')] }; // The file never contains a secret itself.
    case SETTINGS.logSecret:
      return { anyOf: [reference('env')] };
    case publicKey:
      return { anyOf: [{ type: 'string' }, reference('env'), reference('file')] };
    case redisUrl:
      return { anyOf: [{ type: 'string' }, reference('env')] };
    default:
      return type === 'boolean' ? { enum: [true, false, 'on', 'off'] } : undefined;
  }
}

/** Writes the JSON Schema of the configuration file, for editors. */
export function writeConfigSchema(): string {
  const schema = z.toJSONSchema(z.strictObject(SETTINGS).partial(), {
    metadata: SETTING_INFO,
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      for (const key of ['flag', 'short', 'defaultText', 'isReloadable']) {
        delete jsonSchema[key];
      }
      const form = inFile(zodSchema, jsonSchema);
      if (form !== undefined) {
        delete jsonSchema.type;
        delete jsonSchema.minLength;
        Object.assign(jsonSchema, form);
      }
    },
  });
  return `${JSON.stringify({ title: 'Configuration of Notigraph', ...schema }, null, 2)}\n`;
}
