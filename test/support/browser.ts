import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { describeWhere } from './describe-where.ts';

/** Where Debian and others put it; STATELET_TEST_BROWSER names another one. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function executable(): string | undefined {
  return [process.env.STATELET_TEST_BROWSER ?? '', ...PLACES].find((path) => path && existsSync(path));
}

/** A group of tests in Chromium. */
export function describeInBrowser(name: string, tests: () => void): void {
  describeWhere(name, { lacks: executable() ? '' : 'chromium', variable: 'STATELET_TEST_CHROMIUM' }, tests);
}

export function startBrowser(): Promise<Browser> {
  // Tests run as root in containers, where Chromium's own sandbox cannot be set up.
  return chromium.launch({ executablePath: executable(), args: ['--no-sandbox', '--disable-gpu'] });
}
