import { describe, expect, test } from '@jest/globals';
import { containerHash } from '../../../machines/pod/policy/container-hash.ts';
import { expand, expandCommand } from '../../../machines/pod/policy/expand.ts';
import { fnv1a128, fnv1a32 } from '../../../machines/pod/policy/fnv.ts';
import {
  imagePullPolicy,
  normalizeImageName,
  pullDecision,
  type ImagePullPolicy,
} from '../../../machines/pod/policy/image-policy.ts';
import { milliValue, parseQuantity, QuantityError, wholeValue } from '../../../machines/pod/policy/quantity.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('hashes', () => {
  test.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('FNV-1a 32 of %j', (text, hash) => expect(fnv1a32(bytes(text))).toBe(hash));

  test.each([
    ['', '6c62272e07bb014262b821756295c58d'],
    ['a', 'd228cb696f1a8caf78912b704e4a8964'],
    ['abc', 'a68d622cec8b5822836dbc7977af7f3b'],
  ])('FNV-1a 128 of %j', (text, hash) => expect(fnv1a128(bytes(text))).toBe(hash));

  // facts/container-hash-vectors.tsv
  test.each([
    ['c', 'docker.io/library/busybox:1.35', '78725ff3'],
    ['app', 'nginx', '807ef53b'],
    ['web-1', 'registry.k8s.io/pause:3.10', '8c904d5'],
    ['init', 'quay.io/a/b@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', '6d260e73'],
  ])('a container %s of %s has the hash that a kubelet gives it', (name, image, hash) => {
    expect(containerHash({ name, image })).toBe(hash);
  });
});

describe('quantities', () => {
  test.each<[string | number, bigint]>([
    ['1', 1_000n],
    ['500m', 500n],
    ['0.1', 100n],
    ['.5', 500n],
    ['5.', 5_000n],
    ['+2', 2_000n],
    ['1.0005', 1_001n],
    ['1n', 1n],
    ['100u', 1n],
    ['1e3', 1_000_000n],
    ['1E-1', 100n],
    ['2k', 2_000_000n],
    [0.25, 250n],
    [4, 4_000n],
  ])('%s is %s thousandths, rounded up', (text, milli) => expect(milliValue(text)).toBe(milli));

  test.each([
    ['128Mi', 134_217_728n],
    ['1Ki', 1024n],
    ['1.5Gi', 1_610_612_736n],
    ['1Ti', 1n << 40n],
    ['1Pi', 1n << 50n],
    ['1Ei', 1n << 60n],
    ['1M', 1_000_000n],
    ['1G', 10n ** 9n],
    ['1T', 10n ** 12n],
    ['1P', 10n ** 15n],
    ['1E', 10n ** 18n],
    ['129e6', 129_000_000n],
    ['100m', 1n],
    ['-3', -3n],
  ])('%s is %s bytes', (text, value) => expect(wholeValue(text)).toBe(value));

  test.each([
    '',
    'abc',
    '1mi',
    '1KiB',
    '1 Gi',
    '--1',
    '.',
    'Ki',
    '1e',
    '1e99999',
    '1e999999999',
    '0x10',
    'NaN',
    '9'.repeat(60),
  ])('%j is refused with what is accepted', (text) => {
    expect(() => parseQuantity(text)).toThrow(QuantityError);
    expect(() => parseQuantity(text)).toThrow(/accepted are/);
  });
});

describe('$(VAR) expansion', () => {
  const variables = new Map([
    ['A', 'x'],
    ['EMPTY', ''],
    ['B', '$(A)'],
  ]);
  test.each([
    ['$(A)', 'x'],
    ['a$(A)b$(A)', 'axbx'],
    ['$(EMPTY)|', '|'],
    ['$(NONE)', '$(NONE)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$x'],
    ['$$', '$'],
    ['$', '$'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$()', '$()'],
    ['$(B)', '$(A)'],
    ['100% $', '100% $'],
  ])('%s becomes %s', (text, result) => expect(expand(text, variables)).toBe(result));

  test('command and args get the final environment', () => {
    expect(expandCommand({ command: ['sh', '$(A)'], args: ['$(Z)', '$$A'] }, [{ name: 'A', value: 'v' }])).toEqual({
      command: ['sh', 'v'],
      args: ['$(Z)', '$A'],
    });
    expect(expandCommand({}, [])).toEqual({ command: [], args: [] });
  });
});

describe('images', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  test.each([
    ['busybox', 'busybox:latest', 'Always'],
    ['busybox:latest', 'busybox:latest', 'Always'],
    ['busybox:1.35', 'busybox:1.35', 'IfNotPresent'],
    ['localhost:5000/a/b', 'localhost:5000/a/b:latest', 'Always'],
    ['localhost:5000/a/b:2', 'localhost:5000/a/b:2', 'IfNotPresent'],
    ['[::1]:5000/a', '[::1]:5000/a:latest', 'Always'],
    ['Registry.Example.com/a__b/c-d', 'Registry.Example.com/a__b/c-d:latest', 'Always'],
    [`a/b@${digest}`, `a/b@${digest}`, 'IfNotPresent'],
    [`a/b:v1@${digest}`, `a/b:v1@${digest}`, 'IfNotPresent'],
  ])('%s is asked for as %s and by default pulled %s', (image, normalized, policy) => {
    expect(normalizeImageName(image)).toEqual({ ok: true, image: normalized });
    expect(imagePullPolicy({ image })).toBe(policy);
  });

  test.each([
    ['', 'invalid reference format'],
    ['a b', 'invalid reference format'],
    ['Busy', 'must be lowercase'],
    ['a//b', 'invalid reference format'],
    ['a:', 'invalid reference format'],
    ['a:b:c', 'invalid reference format'],
    ['a___b', 'invalid reference format'],
    ['a@sha256:abc', 'invalid reference format'],
    ['f'.repeat(64), 'cannot specify 64-byte hexadecimal strings'],
    ['a'.repeat(256), 'must not be more than 255'],
    ['a'.repeat(100_000), 'invalid reference format'],
    [`a:${'t'.repeat(129)}`, 'invalid reference format'],
  ])('%.40s is InvalidImageName', (image, why) => {
    expect(normalizeImageName(image)).toMatchObject({
      ok: false,
      reason: 'InvalidImageName',
      message: expect.stringMatching(/^Failed to apply default image tag "/),
    });
    expect(normalizeImageName(image)).toMatchObject({ message: expect.stringContaining(why) });
  });

  test('a policy that is given stands', () =>
    expect(imagePullPolicy({ image: 'a', imagePullPolicy: 'Never' })).toBe('Never'));

  test.each<[ImagePullPolicy, boolean, string]>([
    ['Always', true, 'pull'],
    ['Always', false, 'pull'],
    ['IfNotPresent', true, 'use'],
    ['IfNotPresent', false, 'pull'],
    ['Never', true, 'use'],
    ['Never', false, 'neverPull'],
  ])('policy %s, present %s: %s', (policy, present, decision) => expect(pullDecision(policy, present)).toBe(decision));
});
