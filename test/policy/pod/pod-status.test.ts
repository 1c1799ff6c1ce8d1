import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import { podStatus } from '../../../machines/pod/policy/pod-status.ts';
import { container, ended, instance, observed, pod, sandbox, statusInput, T0 } from './fixtures.ts';

const main = (status: PodStatus) => status.containerStatuses?.[0];
const condition = (status: PodStatus, type: string) => status.conditions?.find((c) => c.type === type);
const never = { restartPolicy: 'Never' };
const done = { terminating: true, released: true };

describe('phase', () => {
  test.each([
    ['nothing yet', 'Always', [], 'Pending'],
    ['running', 'Always', [instance('main')], 'Running'],
    ['created only', 'Always', [instance('main', { state: 'created', startedAt: undefined })], 'Pending'],
    ['exited 0', 'Always', [ended('main', 0)], 'Running'],
    ['exited 1', 'OnFailure', [ended('main', 1)], 'Running'],
  ])('%s under %s', (_case, restartPolicy, containers, phase) => {
    expect(podStatus(statusInput({ pod: pod({ restartPolicy }), observed: observed(containers) })).phase).toBe(phase);
  });

  test.each([
    ['OnFailure', 0, undefined, 'Succeeded'],
    ['Never', 0, undefined, 'Succeeded'],
    ['Never', 2, undefined, 'Failed'],
    ['Always', 0, undefined, 'Succeeded'],
    ['Always', 1, undefined, 'Failed'],
    ['Never', 0, 'OOMKilled', 'Failed'],
  ])('ended for good under %s with %i %s', (restartPolicy, code, reason, phase) => {
    const input = statusInput({
      pod: pod({ restartPolicy }),
      observed: observed([ended('main', code, { reason })]),
      ...done,
    });
    expect(podStatus(input).phase).toBe(phase);
  });

  test('B019 a deadline is shown only once the containers are stopped', () => {
    const failed = {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
    const previous = podStatus(statusInput({ observed: observed([instance('main')]) }));
    const during = podStatus(
      statusInput({ observed: observed([instance('main')]), previous, failed, terminating: true }),
    );
    expect(during).toMatchObject({ phase: 'Running' });
    expect(during.reason).toBeUndefined();
    const after = podStatus(statusInput({ observed: observed([ended('main', 0)]), previous: during, failed, ...done }));
    expect(after).toMatchObject({ phase: 'Failed', ...failed });
    expect(main(after)?.state?.terminated?.exitCode).toBe(0);
    expect(condition(after, 'Ready')).toMatchObject({ status: 'False', reason: 'PodFailed' });
    expect(podStatus(statusInput({ observed: observed([ended('main', 0)]), previous: after, ...done }))).toMatchObject(
      failed,
    );
  });

  test('of a pod that was not taken in stays as it was said, for a later agent too', () => {
    const previous = {
      phase: 'Failed',
      reason: 'NodeAffinity',
      message: 'Pod was rejected',
      startTime: '2026-01-01T00:00:00Z',
    };
    for (const facts of [{}, { terminating: true }, done]) {
      const status = podStatus(statusInput({ observed: observed([]), previous, ...facts }));
      expect(status).toMatchObject(previous);
      expect(status).not.toHaveProperty('containerStatuses');
      expect(condition(status, 'Ready')?.status).toBe('False');
    }
  });

  test('what the API had counts, though it is heard after a status was made without it', () => {
    const previous = podStatus(statusInput({ observed: observed([]) }));
    expect(previous.phase).toBe('Pending');
    const had = podStatus(statusInput({ observed: observed([instance('main', { restartCount: 3 })]) }));
    const input = statusInput({ observed: observed([]), previous });
    const heard = podStatus({ ...input, pod: { ...input.pod, status: had } });
    expect(heard.phase).toBe('Running');
    expect(main(heard)).toMatchObject({ restartCount: 4, lastState: { terminated: { exitCode: 137 } } });
    const after = podStatus({ ...input, pod: { ...input.pod, status: had }, previous: heard });
    expect(main(after)?.restartCount).toBe(4);
  });

  test('a pod that has to go for another bears DisruptionTarget before the five conditions that every pod has', () => {
    const failed = { reason: 'Preempting', message: 'Preempted', disruption: 'Pod was preempted.' };
    const ends = statusInput({ observed: observed([ended('main', 0)]), failed, ...done });
    const after = podStatus({
      ...ends,
      pod: { ...ends.pod, status: { conditions: [{ type: 'example.com/gate', status: 'True' }] } },
    });
    expect(after).toMatchObject({ phase: 'Failed', reason: 'Preempting', message: 'Preempted' });
    expect(after).not.toHaveProperty('disruption');
    expect(after.conditions?.map(({ type }) => type)).toEqual([
      'example.com/gate',
      'DisruptionTarget',
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ]);
    expect(condition(after, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'Pod was preempted.',
    });
  });

  test('a pod that ended by itself is held at Running until it is released', () => {
    const previous = podStatus(statusInput({ pod: pod(never), observed: observed([instance('main')]) }));
    const input = statusInput({ pod: pod(never), observed: observed([ended('main', 0)]), previous });
    expect(podStatus(input).phase).toBe('Running');
    expect(podStatus({ ...input, released: true }).phase).toBe('Succeeded');
  });

  test('B077 a terminal phase never changes', () => {
    const failed = podStatus(statusInput({ pod: pod(never), observed: observed([ended('main', 1)]), ...done }));
    expect(
      podStatus(statusInput({ pod: pod(never), observed: observed([ended('main', 0)]), previous: failed, ...done }))
        .phase,
    ).toBe('Failed');
    const stored = { ...pod(never), status: { phase: 'Failed' } };
    expect(podStatus(statusInput({ pod: stored, observed: observed([ended('main', 0)]), ...done })).phase).toBe(
      'Failed',
    );
  });

  test('a static pod that is ended keeps the phase of its containers', () => {
    const owner = pod({}, { annotations: { 'kubernetes.io/config.source': 'file' } });
    expect(podStatus(statusInput({ pod: owner, observed: observed([ended('main', 1)]), ...done })).phase).toBe(
      'Running',
    );
  });

  test('a pod that was refused has its reason and no containers', () => {
    const failed = { reason: 'OutOfcpu', message: 'Pod was rejected: no' };
    const status = podStatus(statusInput({ observed: observed([], []), failed, ...done }));
    expect(status).toMatchObject({ phase: 'Failed', ...failed });
    expect(status.containerStatuses).toBeUndefined();
  });
});

describe('init containers', () => {
  const owner = pod({ initContainers: [container('i1'), container('side', { restartPolicy: 'Always' })] });

  test('PodInitializing until they are over, ready when they succeeded', () => {
    const status = podStatus(statusInput({ pod: owner, observed: observed([ended('i1', 0)]) }));
    expect(status.phase).toBe('Pending');
    expect(status.initContainerStatuses?.map(({ name, ready, started }) => [name, ready, started])).toEqual([
      ['i1', true, false],
      ['side', false, false],
    ]);
    expect(main(status)?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
    expect(condition(status, 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [side]',
    });
  });

  test('one that failed for good fails the pod', () => {
    const input = statusInput({
      pod: pod({ ...never, initContainers: [container('i1')] }),
      observed: observed([ended('i1', 1)]),
    });
    expect(podStatus({ ...input, ...done }).phase).toBe('Failed');
  });

  test('B036 a running regular container proves that a lost init container completed', () => {
    const status = podStatus(statusInput({ pod: owner, observed: observed([instance('side'), instance('main')]) }));
    expect(status.initContainerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(status.phase).toBe('Running');
    expect(condition(status, 'Initialized')?.status).toBe('True');
  });

  test('B033 a new sandbox begins the initialisation anew: Pending, Initialized False', () => {
    const sandboxes = [sandbox({ id: 's1', attempt: 1 }), sandbox({ state: 'notReady' })];
    const lost = [ended('i1', 0), ended('side', 137), ended('main', 137)];
    const status = podStatus(statusInput({ pod: owner, observed: observed(lost, sandboxes) }));
    expect(status.phase).toBe('Pending');
    expect(condition(status, 'Initialized')?.status).toBe('False');
    expect(status.initContainerStatuses?.[0]).toMatchObject({
      state: { waiting: { reason: 'PodInitializing' } },
      lastState: { terminated: { exitCode: 0 } },
    });
  });

  test('B030 a sidecar that ended does not fail its pod', () => {
    const side = container('side', { restartPolicy: 'Always' });
    const status = podStatus(
      statusInput({
        pod: pod({ ...never, initContainers: [side] }),
        observed: observed([instance('main'), ended('side', 1)]),
      }),
    );
    expect(status.phase).toBe('Running');
  });
});

describe('container statuses', () => {
  test('running is started and ready, with ids and whole seconds', () => {
    expect(main(podStatus(statusInput({ observed: observed([instance('main')]) })))).toEqual({
      name: 'main',
      state: { running: { startedAt: '2026-01-01T12:00:01Z' } },
      lastState: {},
      ready: true,
      started: true,
      restartCount: 0,
      image: 'busybox:1',
      imageID: 'sha256:abc',
      containerID: 'containerd://main-0',
    });
  });

  test('B087 the image is the spec’s reference, imageID the digest; an older definition keeps the runtime’s name', () => {
    const changed = observed([instance('main', { hash: 'other' })]);
    expect(main(podStatus(statusInput({ observed: changed })))?.image).toBe('docker.io/library/busybox:other');
    expect(main(podStatus(statusInput({ observed: observed([instance('main')]) })))).toMatchObject({
      image: 'busybox:1',
      imageID: 'sha256:abc',
    });
  });

  test.each([
    ['B086 exit 0 is Completed', 0, 'Error', 'Completed'],
    ['B086 exit 0 without a reason is Completed', 0, undefined, 'Completed'],
    ['B080 the OOM kill is shown and the exit code kept', 143, 'OOMKilled', 'OOMKilled'],
    ['an exit without a reason is Error', 3, undefined, 'Error'],
    ['the runtime’s reason stands', 128, 'StartError', 'StartError'],
  ])('%s', (_case, exitCode, given, reason) => {
    const status = podStatus(statusInput({ observed: observed([ended('main', exitCode, { reason: given })]) }));
    expect(main(status)?.state?.terminated).toMatchObject({ exitCode, reason });
  });

  test('state and lastState are the two newest instances', () => {
    const two = [instance('main', { id: 'm1', attempt: 1, restartCount: 1 }), ended('main', 4)];
    expect(main(podStatus(statusInput({ observed: observed(two) })))).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      lastState: { terminated: { exitCode: 4, containerID: 'containerd://main-0' } },
    });
  });

  test.each([
    ['CreateContainerConfigError', 'configmap "x" not found'],
    ['RunContainerError', 'exec: "nope": not found'],
    ['ErrImageNeverPull', 'Container image "a" is not present with pull policy of Never'],
  ])('B090 %s is shown with its message', (reason, message) => {
    const status = podStatus(statusInput({ waiting: { main: { reason, message } } }));
    expect(main(status)?.state).toEqual({ waiting: { reason, message } });
    expect(status.phase).toBe('Pending');
  });

  test('CrashLoopBackOff moves the end to lastState and leaves the pod Running; not where it will not restart', () => {
    const waiting = { main: { reason: 'CrashLoopBackOff', message: 'back-off' } };
    const status = podStatus(statusInput({ observed: observed([ended('main', 1)]), waiting }));
    expect(main(status)).toMatchObject({
      state: { waiting: waiting.main },
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(status.phase).toBe('Running');
    const last = podStatus(statusInput({ pod: pod(never), observed: observed([ended('main', 1)]), waiting }));
    expect(main(last)?.state?.terminated?.exitCode).toBe(1);
  });

  test('one that is run again because its definition changed waits, whatever it ended with and whatever the policy', () => {
    for (const restartPolicy of ['OnFailure', 'Never']) {
      const input = statusInput({ pod: pod({ restartPolicy }), observed: observed([ended('main', 0)]) });
      const status = podStatus({ ...input, replaced: ['main'] });
      expect(main(status)).toMatchObject({
        state: { waiting: { reason: 'ContainerCreating' } },
        lastState: { terminated: { exitCode: 0 } },
        ready: false,
      });
      expect(status.phase).toBe('Running');
      expect(condition(status, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
      const waiting = { main: { reason: 'CreateContainerError', message: 'no' } };
      expect(main(podStatus({ ...input, replaced: ['main'], waiting }))?.state).toEqual({ waiting: waiting.main });
      // Of an agent that knows nothing of the change, it is over.
      expect(main(podStatus(input))?.state?.terminated?.exitCode).toBe(0);
    }
  });

  test('B078 a recorded exit is never replaced by an unknown one', () => {
    const owner = pod({ ...never, containers: [container('main'), container('b')] });
    const before = podStatus(statusInput({ pod: owner, observed: observed([ended('main', 0), instance('b')]) }));
    const after = podStatus(statusInput({ pod: owner, observed: observed([]), previous: before, ...done }));
    expect(after.containerStatuses?.map((c) => c.state?.terminated?.exitCode)).toEqual([0, 137]);
    expect(after.containerStatuses?.[1]?.state?.terminated).toMatchObject({ reason: 'ContainerStatusUnknown' });
    expect(after.phase).toBe('Failed');
  });

  test('a running container that the runtime lost counts as one restart, once', () => {
    const before = podStatus(statusInput({ observed: observed([instance('main')]) }));
    const lost = podStatus(statusInput({ previous: before }));
    expect(main(lost)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
    });
    expect(lost.phase).toBe('Running');
    expect(main(podStatus(statusInput({ previous: lost })))?.restartCount).toBe(1);
  });

  test('the last end that was told stays where others have removed its record, also while the next one comes up', () => {
    const waiting = { main: { reason: 'CrashLoopBackOff', message: 'back-off' } };
    const told = podStatus(statusInput({ observed: observed([ended('main', 3)]), waiting }));
    const gone = podStatus(statusInput({ observed: observed([]), previous: told, waiting }));
    const next = observed([instance('main', { id: 'm1', attempt: 1, restartCount: 1, state: 'created' })]);
    const status = podStatus(statusInput({ observed: next, previous: gone, waiting }));
    expect(main(status)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } });
    expect(status.phase).toBe('Running');
  });

  test('B042 B069 the restart count never falls, whatever the clock and the runtime say', () => {
    const before = podStatus(statusInput({ observed: observed([instance('main', { restartCount: 4 })]) }));
    const back = observed([instance('main', { id: 'x', restartCount: 1, createdAt: T0 - 3_600_000 })]);
    expect(main(podStatus(statusInput({ observed: back, previous: before })))?.restartCount).toBe(4);
  });
});

describe('conditions, times and addresses', () => {
  test('order, and times that change with the status only and never go back (B081)', () => {
    const first = podStatus(statusInput({ observed: observed([instance('main')]) }));
    expect(first.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
      'PodScheduled=True',
    ]);
    const later = podStatus(statusInput({ observed: observed([ended('main', 1)]), previous: first, now: T0 + 60_000 }));
    expect(condition(later, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
      lastTransitionTime: '2026-01-01T12:01:00Z',
    });
    expect(condition(later, 'Initialized')?.lastTransitionTime).toBe('2026-01-01T12:00:10Z');
    const clockBack = podStatus(statusInput({ observed: observed([instance('main')]), previous: later, now: T0 }));
    expect(condition(clockBack, 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:01:00Z' });
    expect(clockBack.startTime).toBe(first.startTime);
  });

  test('startTime is the first sight of the pod in the runtime, else now, and is set once', () => {
    expect(podStatus(statusInput()).startTime).toBe('2026-01-01T12:00:00Z');
    const unseen = podStatus(statusInput({ observed: observed([], []) }));
    expect(unseen.startTime).toBe('2026-01-01T12:00:10Z');
    expect(podStatus(statusInput({ previous: unseen, now: T0 + 99_000 })).startTime).toBe('2026-01-01T12:00:10Z');
  });

  test('conditions of other writers come first and stay', () => {
    const owner = { ...pod(), status: { conditions: [{ type: 'example/gate', status: 'True' }] } };
    expect(podStatus(statusInput({ pod: owner })).conditions?.[0]).toEqual({ type: 'example/gate', status: 'True' });
  });

  test.each([
    ['none', [], 'False'],
    ['not ready', [sandbox({ state: 'notReady' })], 'False'],
    ['without address', [sandbox({ ips: [] })], 'False'],
    ['on the host’s network', [sandbox({ network: 'node' as const })], 'False'],
    ['two ready', [sandbox({ id: 's1', attempt: 1 }), sandbox()], 'False'],
    ['ready', [sandbox()], 'True'],
  ])('PodReadyToStartContainers with sandbox %s', (_case, sandboxes, status) => {
    expect(
      condition(podStatus(statusInput({ observed: observed([], sandboxes) })), 'PodReadyToStartContainers')?.status,
    ).toBe(status);
  });

  test('one address of each family, the node’s primary first; kept when the sandbox is gone', () => {
    const ips = ['10.0.0.5', '10.0.0.6', 'fd00::5'];
    const input = statusInput({ observed: observed([], [sandbox({ ips })]) });
    expect(podStatus(input)).toMatchObject({
      podIP: '10.0.0.5',
      podIPs: [{ ip: '10.0.0.5' }, { ip: 'fd00::5' }],
      hostIP: '192.168.0.9',
    });
    expect(podStatus({ ...input, hostIPs: ['fd00::1'] }).podIP).toBe('fd00::5');
    expect(podStatus(statusInput({ observed: observed([], []), previous: podStatus(input) })).podIP).toBe('10.0.0.5');
    const host = statusInput({
      pod: pod({ hostNetwork: true }),
      observed: observed([], [sandbox({ network: 'node', ips: [] })]),
    });
    expect(podStatus(host).podIP).toBe('192.168.0.9');
  });
});
