// Writes a configuration file. The options with a value are its questions.

import type { Command } from '../command.ts';

export const init: Command = {
  name: 'init',
  summary: 'Writes a configuration file for your service.',
  options: [
    {
      name: 'upstream',
      value: 'URL',
      description: 'Base address of your service, without /v1. Default: the built-in sandbox.',
    },
    {
      name: 'modules',
      value: 'NAME,…',
      description:
        'Modules: events, inbox, messages, subscribers, topics, workflows, files, or none. Default: events,subscribers.',
    },
    {
      name: 'tenant',
      value: 'NAME,…',
      description: 'Tenants whose users sign in, comma-separated. Each has an API key of the service.',
    },
    {
      name: 'issuer',
      value: 'TEXT',
      description: "Claim iss of your identity provider's tokens, exactly, such as https://login.example.com.",
    },
    { name: 'audience', value: 'TEXT', description: 'Claim aud of the tokens for your app.' },
    {
      name: 'jwks',
      value: 'URL',
      description:
        "Address of the provider's signing keys: jwks_uri of its OpenID discovery document. Default: /.well-known/jwks.json of the issuer.",
    },
    {
      name: 'tenant-claim',
      value: 'NAME',
      description: 'Claim that names the tenant, or "none" if all tokens belong to a single tenant. Default: tenant.',
    },
    {
      name: 'origin',
      value: 'URL,…',
      description:
        'Origins of the pages that call the gateway, comma-separated, such as https://app.example.com. Default: none.',
    },
    { name: 'yes', short: 'y', description: "Don't ask. Options that are omitted have their defaults." },
    { name: 'force', description: 'Overwrite existing files.' },
  ],
  details: `It asks for what no option says, and writes notigraph.config.yaml and, if the
configuration needs secrets, .env.example with their variables. Without the
options for tokens, from --tenant to --origin, only servers use the gateway.`,
  run: async (commandLine, host) => (await import('../init.ts')).runInit(commandLine, host),
};
