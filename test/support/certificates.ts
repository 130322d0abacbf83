// Issues certificates with OpenSSL.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPrograms } from './programs.ts';

/** Whether `openssl` is installed, and the end of the titles of tests that need it. */
export const { areThere: hasOpenssl, note: opensslOnly } = findPrograms('openssl');

/** Certificate with its private key, both in PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

/** Authority that issues certificates with OpenSSL. */
export type TestAuthority = ReturnType<typeof createAuthority>;

/** Creates an authority. Nothing it creates outlives the test. */
export function createAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'notigraph-certificates-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-subj', '/CN=test authority'],
    ...['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2'],
  );
  return {
    /** Its own certificate. */
    cert: read('ca.pem'),
    /** Issues a certificate for 127.0.0.1 and service.test, valid for a day. */
    issue(name: string): TestCertificate {
      openssl(
        ...['req', '-x509', ...newKey, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-subj', `/CN=${name}`],
        ...['-addext', 'subjectAltName=IP:127.0.0.1,DNS:service.test', '-addext', 'basicConstraints=critical,CA:FALSE'],
        ...['-keyout', 'leaf.key', '-out', 'leaf.pem', '-days', '1'],
      );
      return { cert: read('leaf.pem'), key: read('leaf.key') };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
