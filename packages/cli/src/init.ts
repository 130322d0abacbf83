// Asks for what no option says, and writes a configuration file.

import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse, stringify } from 'yaml';
import { findTenantProblem } from '../../../src/auth/tenants.ts';
import { scopesOf } from '../../../src/graphql/scopes.ts';
import { isKeysAddress } from '../../../src/lib/urls.ts';
import { listAll } from '../../../src/lib/words.ts';
import { createSchema } from '../../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../../src/modules/shipped.ts';
import { parseSettings } from '../../../src/settings/parse.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/environments.ts';
import type { CommandLine, Process } from './command.ts';
import { CONFIG_FILE } from './config/config-file.ts';
import { findAllConflicts } from './config/load-config.ts';
import { loadCheckedModules } from './config/load-modules.ts';
import { ConfigError, rejectProblems, writeNamedFile } from './config/problem.ts';
import { SETTINGS_TABLE } from './config/settings.ts';
import { isTaken } from './files.ts';

const ENV_EXAMPLE = '.env.example';

/** Options about browsers, in the order of the questions. */
const BROWSER_OPTIONS = ['tenant', 'issuer', 'audience', 'jwks', 'tenant-claim', 'origin'] as const;

/** Options that have no default. */
const REQUIRED: readonly Name[] = ['tenant', 'issuer', 'audience'];

/** Matches what no answer needs, and YAML could read otherwise than it was written. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

type Name = 'upstream' | 'modules' | (typeof BROWSER_OPTIONS)[number];

/** Answers by the name of their option: as typed, lists comma-separated. Without those about browsers, only servers use the gateway. */
type Answers = Partial<Record<Name, string>>;

/** Settings that answers become. The names of tenants are checked on their own. */
const PATHS: Readonly<Record<Exclude<Name, 'tenant'>, string>> = {
  upstream: 'upstream',
  modules: 'modules',
  issuer: 'clients.browser.issuers.0.issuer',
  audience: 'clients.browser.issuers.0.audience',
  jwks: 'clients.browser.issuers.0.jwks',
  'tenant-claim': 'clients.browser.issuers.0.tenantClaim',
  origin: 'clients.browser.corsOrigins',
};

/** Answer to `tenant-claim`: tokens don't name their tenant. Answer to `modules`: there are none. */
const NONE = 'none';

export async function runInit(commandLine: CommandLine, host: Process): Promise<void> {
  const { options, problems: usage } = commandLine;
  const folder = host.cwd();
  const isForced = options.force !== undefined;
  const isConfirmed = options.yes !== undefined;
  const asks = !isConfirmed && host.stdin.isTTY;
  const missing = [
    ...(isConfirmed ? [] : ['yes']),
    ...(hasBrowsers(options) ? REQUIRED.filter((name) => options[name] === undefined) : []),
  ].map((name) => `--${name}`);
  const problems = [...usage, ...findFileProblems(folder, isForced)];
  if (!asks && missing.length > 0) {
    const reason = isConfirmed ? '' : 'There is no terminal to ask. ';
    problems.push(`${reason}Add ${listAll(missing)}. See notigraph init --help.`);
  }
  const answers = asks || missing.length > 0 ? {} : readOptions(options, problems);
  rejectProblems(problems);
  if (asks) {
    await askAll(answers, commandLine, host);
  }
  const example = writeEnvExample(answers);
  const config = writeConfig(answers, await findReadScopes(answers));
  const files = { [CONFIG_FILE]: config, ...(example !== undefined && { [ENV_EXAMPLE]: example }) };
  for (const [name, text] of Object.entries(files)) {
    writeNamedFile(join(folder, name), text, name, isForced);
  }
  host.stdout.write(`Wrote ${listAll(Object.keys(files))}. Next steps:
${example === undefined ? '' : `  Copy ${ENV_EXAMPLE} to .env, fill in the keys, and keep .env out of version control.\n`}  npx notigraph check
  npx notigraph
`);
}

function findFileProblems(folder: string, isForced: boolean): string[] {
  const existing = [CONFIG_FILE, ENV_EXAMPLE].filter((name) => isTaken(join(folder, name)));
  return existing.length === 0 || isForced
    ? []
    : [`${listAll(existing)} already ${existing.length === 1 ? 'exists' : 'exist'}. Overwrite with --force.`];
}

const hasBrowsers = (options: Answers): boolean => BROWSER_OPTIONS.some((name) => options[name] !== undefined);

/** Returns the answers of the command line, with defaults. Adds problems to a list. */
function readOptions(options: Answers, problems: string[]): Answers {
  const answers: Answers = {};
  for (const name of ['upstream', 'modules', ...(hasBrowsers(options) ? BROWSER_OPTIONS : [])] as const) {
    const answer = options[name] ?? defaultOf(name, answers);
    const problem = findProblem(name, { ...answers, [name]: answer });
    if (problem === undefined) {
      answers[name] = answer;
    } else {
      problems.push(`--${name} ${problem}.`);
    }
  }
  return answers;
}

/**
 * Adds the answers of the command line, and those that are typed. A question is repeated until its answer is valid.
 *
 * @throws {ConfigError} if the terminal is closed
 */
async function askAll(answers: Answers, { command, options }: CommandLine, { stdin, stdout }: Process): Promise<void> {
  using terminal = createInterface({ input: stdin, output: stdout, prompt: '> ' });
  let isOpen = true;
  terminal.once('close', () => {
    isOpen = false; // Lines that were typed before are still read.
  });
  const lines = terminal[Symbol.asyncIterator](); // Unlike `question`, it keeps lines that are pasted together.

  async function ask(question: string, fallback = ''): Promise<string> {
    stdout.write(`\n${question}${fallback === '' ? '' : ` [${fallback}]`}\n`);
    if (isOpen) {
      terminal.prompt();
    }
    const line = await lines.next();
    if (line.done === true) {
      stdout.write('\n'); // After Ctrl-C or Ctrl-D.
      throw new ConfigError(['Nothing was written.']);
    }
    return line.value.trim() || fallback;
  }

  async function answer(name: Name): Promise<void> {
    const { description = '' } = command.options.find((option) => option.name === name) ?? {};
    const next = () => ask(description, defaultOf(name, answers));
    for (let text = options[name] ?? (await next()); ; text = await next()) {
      const problem = findProblem(name, { ...answers, [name]: text });
      if (problem === undefined) {
        answers[name] = text;
        return;
      }
      stdout.write(`--${name} ${problem}.\n`);
    }
  }

  await answer('upstream');
  await answer('modules');
  if (hasBrowsers(options) || /^y(?:es)?$/i.test(await ask('Do browsers use the gateway, with tokens? [y/N]'))) {
    for (const name of BROWSER_OPTIONS) {
      await answer(name);
    }
  }
  stdout.write('\n');
}

/** Returns the default of an answer; empty if there is none. */
function defaultOf(name: Name, { issuer = '' }: Answers): string {
  if (name === 'jwks') {
    return isKeysAddress(issuer) ? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json` : '';
  }
  return name === 'modules' ? 'events,subscribers' : name === 'tenant-claim' ? 'tenant' : '';
}

/** Returns why an answer can't be used, as a clause. The file that it would be in is checked like any other. */
function findProblem(name: Name, answers: Answers): string | undefined {
  const tenants = itemsOf(answers.tenant);
  if (CONTROL.test(answers[name] ?? '')) {
    return 'must not contain a line break or another control character';
  }
  if (REQUIRED.includes(name) && itemsOf(answers[name]).length === 0) {
    return 'must not be empty';
  }
  if (name === 'tenant') {
    return findTenantProblem(new Map(tenants.map((tenant) => [tenant, `key-of-${tenant}`])))?.problem;
  }
  if (name === 'tenant-claim' && answers[name] === NONE && tenants.length > 1) {
    return 'must name a claim, because there are several tenants';
  }
  const { problems = [] } = parseSettings(
    parse(writeConfig(answers), { stringKeys: true }) ?? {},
    SETTINGS_TABLE,
    findAllConflicts,
  );
  return problems.find(({ path }) => path.join('.').startsWith(PATHS[name]))?.message;
}

/** Returns the scopes with which tokens can read everything. @throws {ConfigError} if a module can't be used */
async function findReadScopes(answers: Answers): Promise<string> {
  const settings = { ...SETTINGS_TABLE.parse({}), modules: modulesOf(answers) };
  const modules = await loadCheckedModules(settings, () => ({ name: '--modules' }));
  const scopes = scopesOf(createSchema(undefined, modules));
  return scopes.filter((scope) => scope.endsWith(':read')).join(', ');
}

const modulesOf = ({ modules }: Answers): string[] =>
  itemsOf(modules).flatMap((name) => (name === NONE ? [] : toFullName(name)));

const toFullName = (name: string): string =>
  SHIPPED_MODULES.find((full) => full === `notigraph/modules/${name}`) ?? name;

const itemsOf = (list = ''): string[] => [...new Set(list.split(',').map((item) => item.trim()))].filter(Boolean);

/** Returns a text or list as YAML on one line, with quotes where they are needed. */
const toYaml = (value: string | readonly string[] = ''): string =>
  stringify(value, {
    blockQuote: false,
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
  }).trimEnd();

/** @param scopes scopes of browsers, comma-separated */
function writeConfig(answers: Answers, scopes = ''): string {
  const upstream = answers.upstream
    ? `# Base address of the service, without /v1.\nupstream: ${toYaml(answers.upstream)}`
    : '# Base address of your service, without /v1. Until you set it, Notigraph serves its sandbox.\n# upstream: https://notifications.example.com';
  return `# yaml-language-server: $schema=./node_modules/notigraph/schema/config.schema.json
# docs/settings.md explains every setting, docs/production.md those to decide before you deploy.

${upstream}

# What the gateway adds to the built-in schema: see docs/modules.md.
modules: ${toYaml(modulesOf(answers))}

# With it, an API key has the same name in the log and the audit log after a restart: see docs/audit.md.
${hasBrowsers(answers) ? '' : '# '}logSecret: { env: LOG_SECRET }

clients:
  # Servers send the service's API key: "Authorization: ApiKey <key>". off rejects them.
  server: on
${hasBrowsers(answers) ? writeBrowser(answers, scopes) : '  # To serve browsers, add the section browser: see docs/frontend.md.\n'}`;
}

function writeBrowser(answers: Answers, scopes: string): string {
  const { issuer, audience, jwks, tenant, 'tenant-claim': claim, origin } = answers;
  const tenants = variablesOf(tenant);
  return `  # Browsers send a token of the identity provider: "Authorization: Bearer <token>". See docs/frontend.md.
  browser:
    issuers:
      - issuer: ${toYaml(issuer)} # the token's iss, exactly
        audience: ${toYaml(audience)} # the token's aud, or one of its entries
        # The provider's signing keys: jwks_uri in <issuer>/.well-known/openid-configuration.
        jwks: ${toYaml(jwks)}
        algorithms: [RS256, ES256] # those that the provider may sign with
        ${claim === NONE ? `tenant: ${toYaml(tenants[0]?.[0])} # the tenant of all tokens` : `tenantClaim: ${toYaml(claim)} # the claim with the tenant`}
    # Upper limit for every token. Add what your app writes, such as workflows:write.
    scopes: [${scopes}]
    # The service's API key of each tenant, from the environment or from .env.
    tenants:
${tenants.map(([name, variable]) => `      ${toYaml(name)}: { env: ${variable} }\n`).join('')}    # Origins of the pages that may call the gateway, such as https://app.example.com.
    corsOrigins: ${toYaml(itemsOf(origin))}
`;
}

/** Writes the variables that the configuration file refers to; undefined if there are none. */
function writeEnvExample({ tenant, upstream }: Answers): string | undefined {
  const tenants = variablesOf(tenant);
  if (tenants.length === 0) {
    return undefined;
  }
  const keys = Object.values(SANDBOX_KEYS).join(' and ');
  return `# Variables of ${CONFIG_FILE}. Copy this file to .env, and keep that out of version control.

# At least 16 characters, such as of: openssl rand -hex 16
LOG_SECRET=
${upstream ? '' : `# The sandbox has the keys ${keys}.\n`}${tenants
  .map(([name, variable]) => `\n# The service's API key of the tenant ${name}, without "ApiKey"\n${variable}=\n`)
  .join('')}`;
}

/** Returns the variable of each tenant. Their prefix keeps them apart from Notigraph's own variables. */
function variablesOf(list: string | undefined): [tenant: string, variable: string][] {
  const tenants = itemsOf(list);
  const words = tenants.map((tenant) => tenant.toUpperCase().match(/[A-Z0-9]+/g) ?? []);
  const names = words.map((each) => `TENANT_${each.join('_')}_KEY`);
  return tenants.map((tenant, i) => {
    const name = names[i] ?? '';
    return [tenant, names.indexOf(name) === i ? name : `${name}_${i + 1}`]; // a-b and a.b have the same name.
  });
}
