import type { Plugin } from 'graphql-yoga';
import type { GatewayContext } from './context.ts';

/** Hooks that Yoga runs only when it handles HTTP requests itself, or for subscriptions. */
const UNUSED_HOOKS = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
  'onSubscribe',
];

/** The same for the members of `instrumentation`. */
const UNUSED_INSTRUMENTATION = ['request', 'requestParse', 'operation', 'resultProcess', 'subscribe'];

/**
 * Returns the plugin with the same check for plugins that it adds itself.
 *
 * @throws {TypeError} naming a hook that would never run: a rule in it would silently not hold
 */
export function checkPlugin(plugin: Plugin<GatewayContext>): Plugin<GatewayContext> {
  const hook = findUnusedHook(plugin);
  if (hook !== undefined) {
    throw new TypeError(
      `A plugin has the hook ${hook}, which never runs in this gateway. Use onParse, onValidate, onContextBuilding or onExecute, or a server in front of the gateway.`,
    );
  }
  const { onPluginInit } = plugin;
  if (onPluginInit === undefined) {
    return plugin;
  }
  const checked: Plugin<GatewayContext> = Object.create(plugin, {
    onPluginInit: {
      value: (payload: Parameters<typeof onPluginInit>[0]) =>
        onPluginInit.call(plugin, { ...payload, addPlugin: (added) => payload.addPlugin(checkPlugin(added)) }),
    },
  });
  return checked;
}

function findUnusedHook(plugin: object): string | undefined {
  const has = (owner: object, name: string) => Reflect.get(owner, name) !== undefined;
  const instrumentation: unknown = Reflect.get(plugin, 'instrumentation');
  return (
    UNUSED_HOOKS.find((name) => has(plugin, name)) ??
    (typeof instrumentation === 'object' && instrumentation !== null
      ? UNUSED_INSTRUMENTATION.filter((name) => has(instrumentation, name)).map((name) => `instrumentation.${name}`)[0]
      : undefined)
  );
}
