import { expect, test } from '@jest/globals';
import { inspectAddress } from '../../bin/config/inspect-address.ts';
import { load, problems } from './load.ts';

test.each([
  ['127.0.0.1:10270', '127.0.0.1', 10270],
  ['127.1.2.3', '127.1.2.3', 10270],
  ['localhost', '127.0.0.1', 10270],
  ['LOCALHOST:8000', '127.0.0.1', 8000],
  ['::1', '::1', 10270],
  ['[::1]:0', '::1', 0],
  ['9000', '127.0.0.1', 9000],
])('--inspect=%s listens on %s, port %i', (text, host, port) => {
  expect(inspectAddress(text)).toEqual({ host, port });
});

test.each([
  '',
  '0.0.0.0',
  '::',
  '[::]:1',
  '10.0.0.1:80',
  '128.0.0.1',
  '127.0.0.1:65536',
  '99999',
  '-1',
  '127.0.0.1:',
  ':80',
  'example.com',
  '127.example.com',
  '[127.0.0.1]:80',
  '1:2:3',
  '127.0.0.1.evil.example',
])('--inspect=%s is refused', (text) => {
  expect(inspectAddress(text)).toBeUndefined();
  expect(problems(() => load([`--inspect=${text}`]))).toEqual([
    expect.stringMatching(
      /is not a loopback address or a port: accepted are .* a port from 0 to 65535, or such a port alone/,
    ),
  ]);
});

test('--inspect alone is 127.0.0.1:10270, takes no word after it, and lets nobody write', () => {
  expect(load(['--inspect', '--inspect-write=false', '-v', '2']).inspect).toEqual({
    host: '127.0.0.1',
    port: 10270,
    write: false,
  });
  expect(load([]).inspect).toBeUndefined();
  expect(load(['--inspect', '--inspect-write']).inspect).toMatchObject({ write: true });
});
