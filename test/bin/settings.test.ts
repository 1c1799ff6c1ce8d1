import { expect, test } from '@jest/globals';
import { hostIPs, syncloopSettings } from '../../bin/settings.ts';
import { loadFields } from '../config/load.ts';

const node = { nodeName: 'n', hostIPs: ['192.0.2.1'], memoryCapacityBytes: 1, cores: 1, bootId: '' };
const rotation = (fields: object, flags: string[] = []) =>
  syncloopSettings(loadFields(fields, flags), node).logRotation;

test('logs are rotated as the kubelet’s defaults have it', () => {
  expect(rotation({})).toEqual({ periodMs: 10_000, maxSizeBytes: 10 * 1024 * 1024, maxFiles: 5, maxWorkers: 1 });
});

test('every setting of log rotation acts', () => {
  const fields = {
    containerLogMaxSize: '1M',
    containerLogMaxFiles: 2,
    containerLogMaxWorkers: 4,
    containerLogMonitorInterval: '1m30s',
  };
  expect(rotation(fields)).toEqual({ periodMs: 90_000, maxSizeBytes: 1_000_000, maxFiles: 2, maxWorkers: 4 });
  expect(rotation(fields, ['--container-log-max-size=2Ki', '--container-log-max-files=7'])).toMatchObject({
    maxSizeBytes: 2048,
    maxFiles: 7,
  });
  expect(loadFields(fields).warnings.filter((line) => line.includes('no effect'))).toEqual([]);
});

test('a size below zero turns rotation off', () => {
  expect(rotation({ containerLogMaxSize: '-1' })).toBeUndefined();
});

test('until the Node tells them, the node’s addresses are those of --node-ip, or the host’s with the family that it prefers first', () => {
  const found = ['192.0.2.1', '2001:db8::1'];
  expect(hostIPs('192.0.2.7, 2001:db8::7', found)).toEqual(['192.0.2.7', '2001:db8::7']);
  expect(hostIPs('', found)).toEqual(found);
  expect(hostIPs('0.0.0.0', found)).toEqual(found);
  expect(hostIPs('::', found)).toEqual(['2001:db8::1', '192.0.2.1']);
});
