import { existsSync } from 'node:fs';
import { describe, test } from '@jest/globals';
import { chromium, type Browser } from 'playwright-core';

/** Where Debian and others put it; STATELET_TEST_BROWSER names another one. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function executable(): string | undefined {
  return [process.env.STATELET_TEST_BROWSER ?? '', ...PLACES].find((path) => path && existsSync(path));
}

/** A group of tests in Chromium. Without one it is left out, unless STATELET_TEST_CHROMIUM=required, with which it fails. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (executable()) describe(name, tests);
  else if (process.env.STATELET_TEST_CHROMIUM !== 'required')
    describe.skip(`${name} (left out: lacks chromium)`, tests);
  else
    describe(name, () => {
      test('there is a browser for them', () => {
        throw new Error('STATELET_TEST_CHROMIUM=required, and this machine lacks chromium');
      });
    });
}

export function startBrowser(): Promise<Browser> {
  // Tests run as root in containers, where Chromium's own sandbox cannot be set up.
  return chromium.launch({ executablePath: executable(), args: ['--no-sandbox', '--disable-gpu'] });
}
