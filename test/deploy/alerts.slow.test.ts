import { expect, it } from 'vitest';
import { hasPromtool, promtool, promtoolOnly } from './promtool.ts';

it.runIf(hasPromtool)(`the alerts fire when they should, and only then${promtoolOnly}`, () => {
  expect(promtool('test', 'rules', 'alerts.test.yml')).toBe('');
});
