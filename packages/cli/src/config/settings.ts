// The settings of the command: its own, those of the gateway, and those of the server.

import { availableParallelism } from 'node:os';
import { z } from 'zod';
import {
  choice,
  integer,
  list,
  matching,
  offOr,
  onOff,
  SETTING_INFO,
  type SettingGroup,
  setting,
} from '../../../../src/settings/define.ts';
import { ofKind, path } from '../../../../src/settings/kinds.ts';
import { GATEWAY_GROUPS, GATEWAY_SETTINGS } from '../../../../src/settings/settings.ts';
import { httpServer } from '../server/settings.ts';

const host = () => matching(/^[\w.:-]+$/, 'must be a host name or an IP address').default('127.0.0.1');
const WORKERS = 'must be a whole number from 1 to 64, or auto';
const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const LOG_FORMATS = ['json', 'text', 'auto'] as const;

export const DEFAULT_SANDBOX_FILE = '.notigraph/sandbox.db';

/** Returns the file of the sandbox, which is a setting of its own or only switched on. */
export const sandboxFileOf = (value: string | boolean): string =>
  typeof value === 'string' && !/^1?$/.test(value) ? value : DEFAULT_SANDBOX_FILE;

const command = {
  sandbox: setting(
    z
      .union([z.boolean(), ofKind('sandbox', z.string())], 'must be a path, on or off')
      .transform(sandboxFileOf)
      .exactOptional(),
    'Serves the built-in sandbox and keeps its data in FILE; `:memory:` keeps it in memory.',
    { flag: '[FILE]', defaultText: '`.notigraph/sandbox.db` if there is no upstream' },
  ),
  port: setting(integer(0, 65_535).default(4_000), 'Port to listen on. 0 picks a free one.', {
    flag: 'PORT',
    short: 'p',
  }),
  host: setting(host(), 'Address to listen on. `::` listens on all addresses, `0.0.0.0` on those of IPv4.', {
    flag: 'HOST',
  }),
  workers: setting(
    z.union([integer(1, 64, WORKERS), z.literal('auto')], WORKERS).default(1),
    'Processes that serve the port. `auto` starts one per CPU.',
    { flag: 'N|auto' },
  ),
  adminPort: setting(
    integer(0, 65_535).exactOptional(),
    "Separate port for `/livez`, `/readyz`, `/metrics` and `/config`, which the public port then doesn't serve.",
    { flag: 'PORT', defaultText: 'none' },
  ),
  adminHost: setting(host(), 'Address of the separate port. In a container, use `::`.', { flag: 'HOST' }),
  modules: setting(
    offOr([], list(path('module')), 'must be a list, or off').prefault([]),
    '[Modules](modules.md) that add endpoints of your own to the schema: paths of files, `notigraph/modules/events` and the other shipped ones, or packages; or `off`.',
    { flag: 'MODULE,…', needsRestart: false, defaultText: 'none; with the sandbox, all shipped ones' },
  ),
  logLevel: setting(
    choice(LOG_LEVELS).default('info'),
    'Least important lines that are logged. `info` logs every operation, `debug` also its REST calls.',
    { flag: LOG_LEVELS.join('|'), needsRestart: false },
  ),
  logFormat: setting(
    choice(LOG_FORMATS).default('auto'),
    'Format of log lines: `json`, or `text` for people. `auto` is `text` on a terminal outside of production, otherwise `json`.',
    { flag: LOG_FORMATS.join('|') },
  ),
  logErrorTexts: setting(
    onOff().prefault(true),
    'Whether the log has the messages of unexpected errors. Modules and their libraries write them, and can quote values. `off` leaves type, code and places in the code.',
  ),
};

/** Returns the number of processes that serve: one per CPU for `auto`. */
export const countWorkers = (workers: number | 'auto'): number =>
  workers === 'auto' ? availableParallelism() : workers;

/** Groups of settings, in the order of docs/settings.md. */
export const SETTING_GROUPS = [
  { title: 'Command', needsRestart: true, settings: command },
  ...GATEWAY_GROUPS,
  { title: 'HTTP server', needsRestart: true, settings: httpServer },
] as const satisfies readonly SettingGroup[];

export const SETTINGS = { ...GATEWAY_SETTINGS, ...command, ...httpServer };

export const SETTINGS_TABLE = z.object(SETTINGS);

/** Names of the settings that are sections. */
export const SECTION_NAMES = SETTING_GROUPS.flatMap(({ isSections, settings }: SettingGroup) =>
  isSections ? Object.keys(settings) : [],
);

export type SettingName = keyof typeof SETTINGS;

/** Returns the names of the settings that take effect only after a restart. */
export const listRestartSettings = (): SettingName[] =>
  SETTING_GROUPS.flatMap(({ needsRestart, settings }: SettingGroup) =>
    Object.entries(settings).flatMap(([name, schema]) =>
      isSettingName(name) && (SETTING_INFO.get(schema)?.needsRestart ?? needsRestart) ? [name] : [],
    ),
  );

const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

/** Every setting with its default applied. */
export type Settings = Readonly<z.output<typeof SETTINGS_TABLE>>;

/** Returns the environment variable of a setting: `NOTIGRAPH_MAX_RETRIES` for `maxRetries`. */
export const variableOf = (name: string): string =>
  `NOTIGRAPH_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Returns the name of a setting's option, without dashes: `log-level` for `logLevel`. */
export const optionOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
