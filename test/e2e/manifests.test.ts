import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lines, type Daemon } from '../support/daemon.ts';
import { processesWith } from '../support/embedded-process.ts';
import { embeddedNode } from '../support/node.ts';
import { FOREVER, shellPod } from '../support/pods.ts';
import { stays } from '../support/until.ts';

let node: Awaited<ReturnType<typeof embeddedNode>>;
let daemon: Daemon;

beforeAll(async () => {
  node = await embeddedNode();
  ({ daemon } = node);
  await daemon.put(shellPod('steady', FOREVER));
  await daemon.ready('steady');
}, 60_000);

afterAll(() => node?.discard(), 60_000);

const noteFile = (name: string) => join(daemon.directory, 'notes', name);

/** A pod that can write to /notes. */
function noting(name: string, script: string, extra: Record<string, unknown> = {}) {
  const notes = { name: 'notes', hostPath: { path: join(daemon.directory, 'notes'), type: 'DirectoryOrCreate' } };
  return shellPod(
    name,
    script,
    { volumes: [notes], ...extra },
    { volumeMounts: [{ name: 'notes', mountPath: '/notes' }] },
  );
}

const text = (pod: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
const podText = (name: string, spec: object) => text({ metadata: { name }, spec });
const plain = { name: 'main', image: 'busybox:1.35' };

describe('a manifest that cannot be used is told with its file and field, and the others run on', () => {
  test.each<[string, string, string | Buffer, RegExp]>([
    ['cut off', 'cut.json', '{"apiVersion":"v1","kind":"Pod","metadata":{"na', /cut\.json: line 1: Missing closing/],
    ['empty', 'empty.yaml', '', /empty\.yaml: .*(empty|must be a map)/],
    ['not UTF-8', 'latin.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xe9, 0xff, 0x0a]), /latin\.yaml: .*UTF-8/],
    ['huge', 'huge.yaml', Buffer.alloc(12 * 1024 * 1024, 0x61), /huge\.yaml: .*(large|bytes|MiB)/],
    [
      'of another kind',
      'kind.yaml',
      'apiVersion: v1\nkind: Service\n',
      /kind\.yaml: kind: \\"Service\\".*accepted are Pod/,
    ],
    [
      'without a name',
      'name.yaml',
      text({ metadata: {}, spec: { containers: [plain] } }),
      /name\.yaml: metadata\.name/,
    ],
    [
      'of a wrong type',
      'type.yaml',
      podText('type', { containers: [plain], terminationGracePeriodSeconds: 'soon' }),
      /type\.yaml: spec\.terminationGracePeriodSeconds/,
    ],
    [
      'out of range',
      'range.yaml',
      podText('range', { containers: [{ ...plain, ports: [{ containerPort: 70000 }] }] }),
      /range\.yaml: spec\.containers\[0\]\.ports\[0\]\.containerPort.*65535/,
    ],
    [
      'of an unknown field',
      'field.yaml',
      podText('field', { containers: [{ ...plain, comand: ['sleep'] }] }),
      /field\.yaml: spec\.containers\[0\]\.comand/,
    ],
    [
      'of a field that is not supported yet',
      'later.yaml',
      podText('later', { containers: [{ ...plain, lifecycle: { preStop: { exec: { command: ['true'] } } } }] }),
      /later\.yaml: spec\.containers\[0\]\.lifecycle.*not supported/,
    ],
    [
      'that refers to an object of the API',
      'secret.yaml',
      podText('secret', { containers: [plain], volumes: [{ name: 's', secret: { secretName: 's' } }] }),
      /secret\.yaml: spec\.volumes\[0\]/,
    ],
  ])('%s', async (_what, file, content, problem) => {
    const since = daemon.log.length;
    await daemon.putText(file, content);
    await daemon.until('the problem is told', () => problem.test(daemon.log.slice(since)));
    expect((await daemon.pods()).size).toBe(1);
    expect((await daemon.ready('steady')).containerStatuses).toMatchObject([{ restartCount: 0 }]);
    await rm(join(daemon.manifests, file));
  });

  test('that cannot be read', async () => {
    const since = daemon.log.length;
    await symlink('/nowhere/at/all', join(daemon.manifests, 'dangling.yaml'));
    await mkdir(join(daemon.manifests, 'folder.yaml'));
    await daemon.until('it is told', () => /dangling\.yaml: is a link to nothing/.test(daemon.log.slice(since)));
    await daemon.ready('steady');
    await rm(join(daemon.manifests, 'dangling.yaml'));
    await rm(join(daemon.manifests, 'folder.yaml'), { recursive: true });
  });

  test('of a name that another one has', async () => {
    const since = daemon.log.length;
    await daemon.put(shellPod('steady', 'exit 1'), 'twin.yaml');
    await daemon.until('both files are named', () => {
      const log = daemon.log.slice(since);
      return log.includes('twin.yaml') && log.includes('steady');
    });
    expect((await daemon.ready('steady')).containerStatuses).toMatchObject([{ restartCount: 0 }]);
    expect((await daemon.pods()).size).toBe(1);
    await rm(join(daemon.manifests, 'twin.yaml'));
  });

  test('of a UID that another one has', async () => {
    const uid = '11111111-2222-3333-4444-555555555555';
    const one = shellPod('uid-one', FOREVER);
    await daemon.put({ ...one, metadata: { ...one.metadata, uid } });
    await daemon.ready('uid-one');
    const since = daemon.log.length;
    const two = shellPod('uid-two', FOREVER);
    await daemon.put({ ...two, metadata: { ...two.metadata, uid } });
    await daemon.until('it is told', () => {
      const log = daemon.log.slice(since);
      return log.includes('uid-two') && log.includes(uid);
    });
    expect([...(await daemon.pods()).keys()].sort()).toEqual(['steady', 'uid-one']);
    await daemon.remove('uid-two');
    await daemon.remove('uid-one');
    await daemon.gone('uid-one');
  });

  test('an edit that is wrong leaves the pod that runs as it is', async () => {
    const before = (await daemon.ready('steady')).containerStatuses?.[0]?.containerID;
    const since = daemon.log.length;
    await daemon.putText('steady.yaml', '{"apiVersion":"v1","kind":"Pod","metadata":');
    await daemon.until('it is told', () => /steady\.yaml/.test(daemon.log.slice(since)));
    await stays('the container runs', 1_000, async () => {
      return (await daemon.status('steady'))?.containerStatuses?.[0]?.containerID === before;
    });
    await daemon.put(shellPod('steady', FOREVER));
    await sleep(300);
    expect((await daemon.ready('steady')).containerStatuses?.[0]?.containerID).toBe(before);
  });
});

describe('B097 each save of an editor leads to just one update', () => {
  /** Each version of the pod notes its beginning, and no version may begin twice. */
  const version = (n: number) => text(noting('edited', `echo ${n} >> /notes/edited; ${FOREVER}`));
  const saves: Record<string, (file: string, content: string) => Promise<void>> = {
    'rename over': async (file, content) => {
      await writeFile(join(daemon.directory, 'edit.tmp'), content);
      await rename(join(daemon.directory, 'edit.tmp'), file);
    },
    'truncate and write in two halves': async (file, content) => {
      await writeFile(file, content.slice(0, content.length / 2));
      await sleep(20);
      await writeFile(file, content);
    },
    'swap of a symbolic link': async (file, content) => {
      const target = join(daemon.directory, `edit-${Math.random()}`);
      await writeFile(target, content);
      await symlink(target, join(daemon.directory, 'edit.link'));
      await rename(join(daemon.directory, 'edit.link'), file);
    },
  };

  test.each(Object.keys(saves))('%s', async (kind) => {
    const save = saves[kind];
    const file = join(daemon.manifests, 'edited.yaml');
    await rm(noteFile('edited'), { force: true });
    for (let n = 0; n < 3; n += 1) {
      await save?.(file, version(n));
      await daemon.until(`version ${n} began`, async () => (await lines(noteFile('edited'))).includes(String(n)));
      await daemon.ready('edited');
    }
    expect(await lines(noteFile('edited'))).toEqual(['0', '1', '2']);
    await daemon.remove('edited');
    await daemon.gone('edited');
  });
});

test('B091 a manifest that is taken out and put back: the old pod ends, then it starts again', async () => {
  const script = `echo began >> /notes/back; trap "sleep 1; echo ended >> /notes/back; exit 0" TERM; sleep 86400 & wait`;
  await daemon.put(noting('back', script));
  await daemon.ready('back');
  await daemon.remove('back');
  await sleep(300);
  await daemon.put(noting('back', script));
  await daemon.until('it began again', async () => (await lines(noteFile('back'))).length === 3);
  await daemon.ready('back');
  expect(await lines(noteFile('back'))).toEqual(['began', 'ended', 'began']);
  await daemon.remove('back');
  await daemon.gone('back');
});

test('B094 an update of a static pod gives the old one its grace', async () => {
  const script = (n: number) =>
    `echo began ${n} >> /notes/grace; trap "sleep 2; echo ended ${n} >> /notes/grace; exit 0" TERM; sleep 86400 & wait`;
  await daemon.put(noting('grace', script(1)));
  await daemon.ready('grace');
  await daemon.put(noting('grace', script(2)));
  await daemon.until('the new one began', async () => (await lines(noteFile('grace'))).includes('began 2'));
  expect(await lines(noteFile('grace'))).toEqual(['began 1', 'ended 1', 'began 2']);
  await daemon.remove('grace');
  await daemon.gone('grace');
});

test('B019 a pod whose deadline passes: its container is stopped in its grace, and only then it has failed', async () => {
  const marker = `deadline-${process.pid}`;
  await daemon.put(
    shellPod('deadline', `: ${marker}; trap "" TERM; while true; do sleep 0.1; done`, {
      activeDeadlineSeconds: 2,
      terminationGracePeriodSeconds: 3,
    }),
  );
  const status = await daemon.podIs('deadline', 'terminal', ({ phase }) => phase === 'Failed' || phase === 'Succeeded');
  expect(await processesWith(marker)).toEqual([]);
  expect(status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 137 } } }],
  });
  await daemon.remove('deadline');
  await daemon.gone('deadline');
});

test('B090 a pod that cannot run says why: a bad command path, an image that is not there', async () => {
  await daemon.put({
    metadata: { name: 'badpath' },
    spec: { containers: [{ ...plain, imagePullPolicy: 'IfNotPresent', command: ['/no/such/program'] }] },
  });
  await daemon.put({
    metadata: { name: 'noimage' },
    spec: { containers: [{ name: 'main', image: 'example.com/absent:1', imagePullPolicy: 'Never' }] },
  });
  const waiting =
    (reason: RegExp) => (status: { containerStatuses?: { state?: { waiting?: { reason?: string } } }[] }) =>
      reason.test(status.containerStatuses?.[0]?.state?.waiting?.reason ?? '');
  const bad = await daemon.podIs('badpath', 'waiting', waiting(/^CrashLoopBackOff$/));
  expect(bad.containerStatuses?.[0]?.state?.waiting?.message).toMatch(
    /^back-off 10s restarting failed container=main pod=badpath-testnode_default\([0-9a-f]{32}\)$/,
  );
  expect(JSON.stringify(bad.containerStatuses)).toContain('/no/such/program');
  const absent = await daemon.podIs('noimage', 'waiting', waiting(/ErrImageNeverPull/));
  expect(absent.containerStatuses?.[0]?.state?.waiting?.message).toContain('example.com/absent:1');
  expect(absent.phase).toBe('Pending');
  expect(daemon.log).toMatch(/reason="ErrImageNeverPull".*noimage/);
  await daemon.remove('badpath');
  await daemon.remove('noimage');
  await daemon.gone('noimage');
});

describe('a file that is no manifest, or not yet, holds up no other one', () => {
  test.each([
    ['a link to a device without end', '/dev/zero', /device\.yaml: is not a regular file/],
    ['a link to a process file', '/proc/self/cmdline', /device\.yaml: \S/],
    ['a link to the memory of the kernel', '/proc/kmsg', /device\.yaml: \S/],
    ['a link to itself', 'device.yaml', /device\.yaml: cannot be read: ELOOP/],
  ])('%s', async (_what, target, problem) => {
    const since = daemon.log.length;
    await symlink(target, join(daemon.manifests, 'device.yaml'));
    await daemon.until('it is told', () => problem.test(daemon.log.slice(since)));
    await daemon.put(shellPod('beside', FOREVER));
    await daemon.ready('beside');
    await daemon.remove('beside');
    await daemon.gone('beside');
    await rm(join(daemon.manifests, 'device.yaml'));
  });

  test('a pipe that nobody writes to', async () => {
    const since = daemon.log.length;
    const pipe = join(daemon.manifests, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    await daemon.until('it is told', () => /pipe\.yaml: is not a regular file/.test(daemon.log.slice(since)));
    await daemon.put(shellPod('beside', FOREVER));
    await daemon.ready('beside');
    await daemon.remove('beside');
    await daemon.gone('beside');
    await rm(pipe);
  });

  test('one that is written slowly is taken once it is whole, and never half of it', async () => {
    const whole = text(noting('slow', `echo began >> /notes/slow; ${FOREVER}`));
    const piece = Math.ceil(whole.length / 6);
    const file = await open(join(daemon.manifests, 'slow.yaml'), 'w');
    for (let at = 0; at < whole.length; at += piece) {
      expect([at, await lines(noteFile('slow'))]).toEqual([at, []]);
      await file.write(whole.slice(at, at + piece));
      await sleep(300);
    }
    await file.close();
    await daemon.ready('slow');
    expect(await lines(noteFile('slow'))).toEqual(['began']);
    await daemon.remove('slow');
    await daemon.gone('slow');
  });
});
