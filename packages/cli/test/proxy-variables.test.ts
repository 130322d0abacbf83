import { describe, expect, it } from 'vitest';
import { loadFrom, problemsOf } from '../../../test/support/configuration.ts';

const proxyOf = (upstream: string, env: Record<string, string>) =>
  loadFrom({ env, argv: ['--upstream', upstream] }).proxy;

const PROXY = 'http://proxy.example.com:3128';

describe('the proxy in the environment', () => {
  it('is that of the scheme of the upstream; lower case and the setting take precedence', () => {
    const env = { HTTPS_PROXY: 'https.example.com:1', HTTP_PROXY: 'http://http.example.com:2' };
    expect(proxyOf('https://a.example.com', env)).toBe('http://https.example.com:1');
    expect(proxyOf('http://a.example.com', env)).toBe('http://http.example.com:2');
    expect(proxyOf('https://a.example.com', { ...env, https_proxy: PROXY })).toBe(PROXY);
    expect(proxyOf('https://a.example.com', { ...env, NOTIGRAPH_PROXY: 'off' })).toBe('off');
    expect(proxyOf('https://a.example.com', { HTTPS_PROXY: '' })).toBeUndefined();
    expect(proxyOf('http://localhost:3000', env)).toBeUndefined();
  });

  it.each([
    ['*', 'https://a.example.com', false],
    ['example.com', 'https://example.com', false],
    ['.example.com, other.test', 'https://a.example.com', false],
    ['*.EXAMPLE.com', 'https://A.example.com', false],
    ['example.com', 'https://badexample.com', true],
    ['b.example.com', 'https://example.com', true],
    ['example.com:8443', 'https://example.com:8443', false],
    ['example.com:8443', 'https://example.com', true],
    ['10.0.0.0/8 192.168.1.1', 'https://10.200.3.4', false],
    ['10.0.0.0/8', 'https://11.0.0.1', true],
    ['192.168.1.1', 'https://192.168.1.1:8443', false],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443', false],
    ['fd00::/8', 'https://[fd12::1]', false],
    ['example.com', 'https://a.example.com.', false],
    ['a.example.com:8443', 'https://a.example.com.:8443', false],
    [',  ,', 'https://a.example.com', true],
  ])('NO_PROXY %j and %s: used %s', (excluded, upstream, isUsed) => {
    expect(proxyOf(upstream, { HTTPS_PROXY: PROXY, NO_PROXY: excluded })).toBe(isUsed ? PROXY : undefined);
  });

  it('applies to each of several upstreams', () => {
    const text = `upstreams:
  eu: { url: https://eu.example.com }
  us: { url: https://us.internal.test }
  ap: { url: https://ap.example.com, proxy: off }
`;
    const { upstreams = {}, proxy: general } = loadFrom({
      env: { HTTPS_PROXY: PROXY, no_proxy: 'internal.test' },
      files: { 'notigraph.config.yaml': text },
    });
    expect(Object.values(upstreams).map(({ proxy }) => proxy)).toEqual([PROXY, undefined, 'off']);
    expect(general).toBeUndefined();
  });

  it('must be a URL; the message does not repeat it', () => {
    const env = { HTTPS_PROXY: 'socks5://ada:hunter2@proxy' };
    expect(problemsOf({ env, argv: ['--upstream', 'https://a.example.com'] })).toEqual([
      'HTTPS_PROXY (environment) must be the URL of a proxy such as http://proxy.example.com:3128.',
    ]);
    expect(problemsOf({ env, argv: ['--upstream', 'http://a.example.com'] })).toEqual([]);
    const invalid = { HTTPS_PROXY: 'http://ada:100%@proxy' }; // The percent sign must be %25.
    expect(problemsOf({ env: invalid, argv: ['--upstream', 'https://a.example.com'] })).toHaveLength(1);
  });
});
