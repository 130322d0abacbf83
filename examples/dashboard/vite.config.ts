import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv, type Plugin } from 'vite';

/** Default addresses: the services of "npm run dashboard". */
const LOCAL = { VITE_GATEWAY_URL: 'http://127.0.0.1:4000/graphql', VITE_ISSUER_URL: 'http://127.0.0.1:4010' };

export default defineConfig(({ mode, command }) => {
  const given = loadEnv(mode, import.meta.dirname);
  const missing = Object.keys(LOCAL).filter((name) => !given[name]);
  if (command === 'build' && missing.length > 0) {
    console.warn(`${missing.join(' and ')} not set: this build uses only the services of "npm run dashboard".`);
  }
  const addresses = Object.entries({ ...LOCAL, ...given });
  return {
    root: import.meta.dirname,
    base: './', // It can be served from any path.
    // Browsers must not get other files of this repository.
    server: { fs: { allow: [import.meta.dirname, resolve(import.meta.dirname, '../../node_modules')] } },
    plugins: [react(), contentSecurityPolicy(addresses.map(([, address]) => new URL(address).origin))],
    define: Object.fromEntries(addresses.map(([name, value]) => [`import.meta.env.${name}`, JSON.stringify(value)])),
  };
});

/** Style elements that React Aria inserts (usePress and, on iOS, usePreventScroll), exactly as it writes them. */
const LIBRARY_STYLES = [
  '@layer {\n  [data-react-aria-pressable] {\n    touch-action: pan-x pan-y pinch-zoom;\n  }\n}',
  '@layer {\n  * {\n    overscroll-behavior: contain;\n  }\n}',
];

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Restricts the built page to its own files and its two services, because any foreign script could read the token. */
function contentSecurityPolicy(origins: readonly string[]): Plugin {
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${LIBRARY_STYLES.map(hashOf).join(' ')}`,
    "img-src 'self' data:",
    `connect-src ${[...new Set(origins)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return {
    name: 'content-security-policy',
    apply: 'build', // Vite's development server has scripts of its own in the page.
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content }, injectTo: 'head-prepend' },
    ],
  };
}
