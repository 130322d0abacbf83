// Builds the app for a gateway's address, with a Content Security Policy that permits no other.

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv, type Plugin } from 'vite';

/** Default address of the gateway: that of "npm run dashboard". */
const LOCAL = 'http://127.0.0.1:4000/graphql';

export default defineConfig(({ mode, command }) => {
  const { VITE_GATEWAY_URL: address } = loadEnv(mode, import.meta.dirname);
  if (command === 'build' && !address) {
    console.warn('VITE_GATEWAY_URL is not set: this build uses only the gateway of "npm run dashboard".');
  }
  const gateway = address || LOCAL;
  return {
    root: import.meta.dirname,
    base: './', // It can be served from any path.
    // Browsers must not get other files of this repository.
    server: { fs: { allow: [import.meta.dirname, resolve(import.meta.dirname, '../../node_modules')] } },
    plugins: [react(), contentSecurityPolicy(new URL(gateway).origin)],
    define: { 'import.meta.env.VITE_GATEWAY_URL': JSON.stringify(gateway) },
  };
});

/** Style elements that React Aria inserts (usePress and, on iOS, usePreventScroll), exactly as it writes them. */
const LIBRARY_STYLES = [
  '@layer {\n  [data-react-aria-pressable] {\n    touch-action: pan-x pan-y pinch-zoom;\n  }\n}',
  '@layer {\n  * {\n    overscroll-behavior: contain;\n  }\n}',
];

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Restricts the built page to its own server and the gateway, because any foreign script could read the token. */
function contentSecurityPolicy(gateway: string): Plugin {
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${LIBRARY_STYLES.map(hashOf).join(' ')}`,
    "img-src 'self' data:",
    `connect-src 'self' ${gateway}`,
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
