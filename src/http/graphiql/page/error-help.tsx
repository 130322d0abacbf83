import { useMemo } from 'react';
import type { PageConfig } from './config.ts';

/** Options of the help. */
interface ErrorHelpProps {
  /** JSON text. */
  response: string;
  errorCodes: PageConfig['errorCodes'];
}

/** Explains the code of the first error below a response. */
export function ErrorHelp({ response, errorCodes }: ErrorHelpProps) {
  const code = useMemo(() => codeOf(response), [response]);
  const entry = code === undefined || !Object.hasOwn(errorCodes, code) ? undefined : errorCodes[code];
  return (
    <div role="status" className="error-help">
      {entry && (
        <>
          <h2>{code}</h2>
          <p>{entry.meaning}</p>
          <p>{entry.remedy}</p>
        </>
      )}
    </div>
  );
}

function codeOf(response: string): string | undefined {
  if (!response.includes('"errors"')) {
    return undefined;
  }
  try {
    return JSON.parse(response).errors?.[0]?.extensions?.code;
  } catch {
    return undefined; // Not a response of the gateway.
  }
}
