// Starts and stops everything the example needs: the development issuer, the sandbox, a gateway in front of it, and the app.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { catchStopSignals, endWithShellOfNpm } from '../../packages/cli/src/signals.ts';
import { SandboxError } from '../../packages/sandbox/src/errors.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { startAppServer } from './dev/app.ts';
import { startGateway } from './dev/gateway.ts';
import { startIssuer } from './dev/issuer.ts';
import { HELP, readOptions, type StartOptions, UsageError } from './dev/options.ts';
import { DEMO_PEOPLE } from './dev/people.ts';
import { createSessions } from './dev/sessions.ts';
import { explainListenError, StartError } from './dev/start-error.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const stopped = stopSignal(); // First: it may be stopped while it starts.
  await using stack = new AsyncDisposableStack();
  const started = startAll(options, stack);
  const parts = await Promise.race([started, stopped]);
  if (parts === undefined) {
    await started.catch(() => {}); // What has started by then is stopped.
    return;
  }
  process.stdout.write(describe(parts));
  const ending = await Promise.race([parts.gatewayEnded, stopped]);
  if (ending !== undefined) {
    throw new StartError(`The gateway is gone (${ending}): everything else is stopped too.`);
  }
  process.stdout.write('\nStopping.\n');
}

interface Parts {
  app: string;
  gateway: string;
  issuer: string;
  service: string;
  gatewayEnded: Promise<string>;
}

/** Each part knows the addresses of those before it. */
async function startAll(options: StartOptions, stack: AsyncDisposableStack): Promise<Parts> {
  const { tokenSeconds, sandbox: file } = options;
  const port = options.port ?? (await usualPort(5173));
  const gatewayPort = options.gatewayPort ?? (await usualPort(4000));
  const issuerPort = options.issuerPort ?? (await usualPort(4010));
  const app = stack.use(
    await startAppServer(port).catch((error: unknown) => {
      throw explainListenError(error, 'the app', port, '--port');
    }),
  );
  const issuer = stack.use(
    await startIssuer({ port: issuerPort, tokenSeconds }).catch((error: unknown) => {
      throw explainListenError(error, 'the issuer', issuerPort, '--issuer-port');
    }),
  );
  // Beside the gateway, so that servers can send notifications to it, as to a service.
  const service = stack.use(
    await startSandbox({ file, port: await usualPort(4020) }).catch((error: unknown) => {
      throw error instanceof SandboxError ? new StartError(error.message, { cause: error }) : error;
    }),
  );
  const gateway = stack.use(
    await startGateway({
      port: gatewayPort,
      appPort: app.port,
      issuerPort: Number(new URL(issuer.url).port),
      upstream: service.url,
    }),
  );
  const origins = [`http://127.0.0.1:${app.port}`, `http://localhost:${app.port}`];
  await app.serve({ gateway: gateway.url, sessions: createSessions({ issuer: issuer.url, origins }) });
  return {
    app: `http://127.0.0.1:${app.port}`,
    gateway: gateway.url,
    issuer: issuer.url,
    service: service.url,
    gatewayEnded: gateway.ended,
  };
}

/** Returns a port if nobody listens on it, and 0, which stands for a free one, if somebody does. */
async function usualPort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return 0;
  }
  server.close();
  await once(server, 'close');
  return port;
}

/** A notification to Ada, as a server of her tenant sends it. */
const NOTIFICATION = {
  name: 'comment-mention',
  to: 'customer-1001',
  payload: { authorName: 'Grace Hopper', discussionTitle: 'Weaving' },
};

function describe({ app, gateway, issuer, service }: Parts): string {
  const people = DEMO_PEOPLE.map(({ name, role, tenant }) => `  ${name.padEnd(16)}${role} at ${tenant}`);
  return [
    '',
    'Notigraph dashboard',
    '',
    `  App       ${app}   <- open this in a browser`,
    `  Gateway   ${gateway}`,
    `  Issuer    ${issuer}   for development: it asks for no password`,
    `  Service   ${service}   the sandbox`,
    '',
    'Who can sign in:',
    '',
    ...people,
    '',
    "To ring Ada's bell, send her a notification:",
    '',
    `  curl ${service}/v1/events/trigger -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' \\`,
    `    -H 'Content-Type: application/json' -d '${JSON.stringify(NOTIFICATION)}'`,
    '',
    'Press Ctrl-C to stop.',
    '',
    '',
  ].join('\n');
}

/** Settles at the first signal to stop; a later one ends the process at once. */
function stopSignal(): Promise<undefined> {
  return new Promise((resolve) =>
    catchStopSignals(process, {
      stop: () => resolve(undefined),
      quit: () => process.exit(1),
      signals: ['SIGINT', 'SIGTERM', 'SIGHUP'],
    }),
  );
}

endWithShellOfNpm(process);
try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError || error instanceof StartError)) {
    throw error;
  }
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
