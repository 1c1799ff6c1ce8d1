import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROOT } from '../support/import-graph.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'statelet-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Runs the sources, or another copy of bin/run.js. */
function statelet(argv: string[], script = join(ROOT, 'bin/run.js'), nodeFlags: string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeFlags, script, ...argv], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, NODE_OPTIONS: '', STATELET_SOURCES: script.startsWith(ROOT) ? '1' : '' },
  });
  return { code: status, stdout, stderr };
}

describe('statelet config', () => {
  test('B150 prints the effective configuration, each value with its origin', () => {
    const main = file('k.yaml', `${HEAD}maxPods: 5\nclusterDomain: main\n`);
    const dropIn = file('conf.d/10-a.conf', `${HEAD}resolvConf: /run/resolv.conf\nclusterDomain: a\n`);
    const argv = ['config', '--config', main, '--config-dir', join(folder, 'conf.d'), '--max-pods=7'];
    const yaml = statelet([...argv, '--origin']);
    expect(yaml.code).toBe(0);
    expect(yaml.stdout).toContain(`maxPods: 7 # flag:--max-pods\n`);
    expect(yaml.stdout).toContain(`clusterDomain: a # drop-in:${dropIn}\n`);
    expect(yaml.stdout).toContain(`resolvConf: /run/resolv.conf # drop-in:${dropIn}\n`);
    expect(yaml.stdout).toContain('syncFrequency: 1m0s # default\n');
    const json = statelet([...argv, '--output=json', '--origin']);
    expect(JSON.parse(json.stdout)).toContainEqual({ path: 'maxPods', value: 7, origin: 'flag:--max-pods' });
    const table = statelet([...argv, '--output', 'table']);
    expect(table.stdout).toMatch(/^FIELD +VALUE +ORIGIN\n/);
  });

  test('what it prints is a configuration file of the same meaning', () => {
    const first = statelet(['config', '--output=yaml', '--max-pods=7']).stdout;
    const again = statelet(['config', '--output=yaml', '--config', file('printed.yaml', first)]).stdout;
    expect(again.replace(/evictionHard:\n( {2}.*\n)+/, '').replace('readOnlyPort: 10255', '')).toBe(
      first.replace('readOnlyPort: 10255', ''),
    );
  });

  test.each([
    [['--output=xml'], '--output: "xml" is not accepted: accepted are yaml, json, table'],
    [['--max-pods=many'], '--max-pods: "many" is not a whole number'],
  ])('%j ends with exit code 1', (argv, message) => {
    const { code, stdout, stderr } = statelet(['config', ...argv]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`statelet: ${message}`);
  });
});

describe('statelet run with a configuration that cannot be used', () => {
  test.each([
    ['a wrong type', 'maxPods: "5"\n', 'maxPods: "5" is not an int32: accepted are whole numbers'],
    ['a bad range', 'healthzPort: 70000\n', 'healthzPort: 70000 is out of range: accepted are 0 (off) and 1 to 65535'],
    ['an unknown field under --strict-config', 'maxpods: 5\n', 'maxpods: unknown field, refused by --strict-config'],
  ])('%s: exit code 1, file, field and what is accepted', (_, text, message) => {
    const path = file('bad.yaml', HEAD + text);
    const { code, stderr } = statelet(['run', '--config', path, '--strict-config', '--root-dir', join(folder, 'root')]);
    expect(code).toBe(1);
    expect(stderr).toContain(`statelet: ${path}: ${message}`);
  });

  test('B149 empty drop-in: refused with the name of the file, no stack', () => {
    const path = file('empty.d/20-b.conf', '');
    const { code, stderr } = statelet(['run', '--config-dir', join(folder, 'empty.d')]);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(`statelet: ${path}: is empty`)]);
  });

  test.each([
    ['run', 1, 'statelet: foo: is no flag: `statelet run` and `statelet config` take no arguments, only flags\n'],
    ['config', 1, 'statelet: bar: is no flag: `statelet run` and `statelet config` take no arguments, only flags\n'],
    ['ps', 2, 'ps takes no arguments, but was given foo bar'],
  ])('%s takes no arguments, and says so', (command, exit, message) => {
    const { code, stderr } = statelet([command, 'foo', 'bar']);
    expect(code).toBe(exit);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('not found');
  });

  test('an unknown flag is named, with the one that was meant', () => {
    const { code, stderr } = statelet(['run', '--pod-manifest=/x']);
    expect(code).toBe(1);
    expect(stderr).toBe('statelet: --pod-manifest: unknown flag; did you mean --pod-manifest-path?\n');
  });
});

describe('a --root-dir that cannot be used: exit code 1, naming flag and path', () => {
  const ANY_HOST = ['--fail-cgroupv1=false', '--fail-swap-on=false', '--hostname-override=n'];
  const accepted = 'accepted is a folder that can be made and written to';
  test.each([
    ['below /proc, where the kernel makes no folder', () => '/proc/statelet/root', 'ENOENT: no such file or directory'],
    ['below /sys', () => '/sys/statelet', '(EPERM|EROFS|EACCES): .*'],
    ['a file', () => file('plain', ''), 'ENOTDIR: not a directory'],
    ['below a file', () => join(file('plain', ''), 'root'), 'ENOTDIR: not a directory'],
    ['with a file for its pods', () => join(file('odd/pods', ''), '..'), 'EEXIST: file already exists'],
  ])('%s', (_, path, reason) => {
    const { code, stderr } = statelet(['run', `--root-dir=${path()}`, ...ANY_HOST]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^statelet: --root-dir: ${path()}: cannot be used \\(${reason}\\): ${accepted}$`, 'm'),
    );
    expect(stderr).not.toMatch(/\n {4}at /);
  });
});

test('statelet ps without an agent: exit code 1, naming the socket', () => {
  const { code, stderr } = statelet(['ps', '--root-dir', folder]);
  expect(code).toBe(1);
  expect(stderr).toBe(`statelet: ${folder}/statelet/statelet.sock: no agent runs with this --root-dir\n`);
});

test('an unknown command: exit code 2', () => {
  expect(statelet(['walk'])).toMatchObject({ code: 2, stderr: expect.stringContaining('walk not found') });
});

describe('the bundle', () => {
  const copy = () => join(folder, 'package/bin/run.js');
  beforeAll(() => {
    mkdirSync(join(folder, 'package/bin'), { recursive: true });
    writeFileSync(join(folder, 'package/package.json'), '{"type":"module"}');
    copyFileSync(join(ROOT, 'bin/run.js'), copy());
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts/build.ts'), join(folder, 'package/dist')],
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('needs no package but those that it brings', () => {
    expect(statelet(['--version'], copy())).toMatchObject({ code: 0, stdout: expect.stringMatching(/^statelet\//) });
    expect(statelet(['config', '--output=table'], copy()).stdout).toMatch(/^FIELD/);
    expect(statelet(['run', '--max-pods=x'], copy()).code).toBe(1);
    expect(statelet(['run', '--help'], copy()).stdout).toContain('--pod-manifest-path');
  });

  test('has what it cannot hold beside it: the calls of the kernel', () => {
    const script =
      "const { default: koffi } = await import('koffi'); console.log(koffi.load(null).func('int getpid()')(), process.pid);";
    const path = file('package/dist/calls.mjs', script);
    const { stdout, stderr } = spawnSync(process.execPath, [path], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const [called, own] = stdout.trim().split(' ');
    expect({ stderr, called }).toEqual({ stderr: '', called: own });
  });

  test('says clearly that Node is too old', () => {
    const old = ['--import', 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.1.0"})'];
    expect(statelet(['--version'], copy(), old)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'statelet: Node 20.1.0 is too old: accepted are 24 and newer (npm ci brings one along)\n',
    });
  });
});
