import type { PageConfig } from '../page-config.ts';

export type {
  ExplainedCall,
  Explanation,
  PageConfig,
  PageOperation,
  Scheme,
  UpstreamReport,
} from '../page-config.ts';

/** Reads the configuration from the page. */
export const readConfig = (): PageConfig => JSON.parse(document.getElementById('config')?.textContent ?? '');
