import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv, type Plugin } from 'vite';

/** Where the services of "npm run dashboard" are, for who names no others. */
const LOCAL = { VITE_GATEWAY_URL: 'http://127.0.0.1:4000/graphql', VITE_ISSUER_URL: 'http://127.0.0.1:4010' };

export default defineConfig(({ mode, command }) => {
  const given = loadEnv(mode, import.meta.dirname);
  const missing = Object.keys(LOCAL).filter((name) => !given[name]);
  if (command === 'build' && missing.length > 0) {
    console.warn(`${missing.join(' and ')} not set: this build talks to the services of "npm run dashboard" alone.`);
  }
  const addresses = Object.entries({ ...LOCAL, ...given });
  return {
    root: import.meta.dirname,
    base: './', // It can be served from any path.
    // The rest of this repository is nothing for browsers.
    server: { fs: { allow: [import.meta.dirname, resolve(import.meta.dirname, '../../node_modules')] } },
    plugins: [react(), contentSecurityPolicy(addresses.map(([, address]) => new URL(address).origin))],
    define: Object.fromEntries(addresses.map(([name, value]) => [`import.meta.env.${name}`, JSON.stringify(value)])),
  };
});

/** Holds the built page to its own files and its two services: a token in memory is as safe as the page is from foreign scripts. */
function contentSecurityPolicy(origins: readonly string[]): Plugin {
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
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
