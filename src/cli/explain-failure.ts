import { ManifestError } from '../graphql/documents/manifest.ts';
import { ListenError } from '../http/server.ts';
import { SecretError } from '../lib/files/secret-files.ts';
import { SandboxError } from '../sandbox/errors.ts';
import { MissingPackageError } from '../settings/optional-packages.ts';
import { AuditError } from '../telemetry/audit-file.ts';
import { WorkersError } from './cluster/workers-error.ts';
import { ConfigError } from './config/config-error.ts';
import { ImportError } from './import/import-error.ts';

/** Returns the message and exit code for a problem that is not a bug; undefined for bugs. */
export function explainFailure(error: unknown): { message: string; exitCode: number } | undefined {
  if (error instanceof ConfigError) {
    return { message: error.message, exitCode: 2 };
  }
  if (
    error instanceof SecretError ||
    error instanceof AuditError ||
    error instanceof ManifestError ||
    error instanceof MissingPackageError
  ) {
    return { message: `Notigraph can't start: ${error.message}.`, exitCode: 2 };
  }
  if (error instanceof WorkersError) {
    return error;
  }
  return error instanceof ListenError || error instanceof SandboxError || error instanceof ImportError
    ? { message: error.message, exitCode: 1 }
    : undefined;
}
