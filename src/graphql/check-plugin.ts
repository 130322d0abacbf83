import type { Plugin } from 'graphql-yoga';
import type { GatewayContext } from './context.ts';

/**
 * Plugin of a host. The types of ready-made plugins of Yoga and Envelop don't have the gateway's context, so they don't fit
 * `Plugin<GatewayContext>`; as in Yoga's own options, any object does.
 */
export type HostPlugin = Plugin<GatewayContext> | object;

type OnPluginInit = NonNullable<Plugin<GatewayContext>['onPluginInit']>;

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

/** Members of `instrumentation` that never run, for the same reason. */
const UNUSED_INSTRUMENTATION = ['request', 'requestParse', 'operation', 'resultProcess', 'subscribe'];

/**
 * Checks that a plugin has no hook that would never run. Returns the plugin, changed to check the plugins that it adds.
 *
 * @throws {TypeError} if the plugin has such a hook, because the rules in it would silently not apply
 */
export function checkPlugin<Given extends object>(plugin: Given): Given {
  const hook = findUnusedHook(plugin);
  if (hook !== undefined) {
    throw new TypeError(
      `A plugin has the hook ${hook}, which never runs in this gateway. Use onParse, onValidate, onContextBuilding or onExecute, or a server in front of the gateway.`,
    );
  }
  const onPluginInit: unknown = Reflect.get(plugin, 'onPluginInit');
  if (typeof onPluginInit !== 'function') {
    return plugin;
  }
  const checked: Given = Object.create(plugin, {
    onPluginInit: {
      value: (payload: Parameters<OnPluginInit>[0]) =>
        onPluginInit.call(plugin, { ...payload, addPlugin: (added: object) => payload.addPlugin(checkPlugin(added)) }),
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
