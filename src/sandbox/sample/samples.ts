import type { SampleEnvironment } from '../records/definition.ts';
import { DEVELOPMENT_SAMPLE } from './development.ts';
import { PRODUCTION_SAMPLE } from './production.ts';

/** The sample records of both environments. */
export const SAMPLES: readonly SampleEnvironment[] = [DEVELOPMENT_SAMPLE, PRODUCTION_SAMPLE];
