import { describe, expect, test } from '@jest/globals';
import type { Container, PodSpec, Taint } from '../../../../machines/kubernetes.types.ts';
import { portsAreTaken } from '../../../../machines/pod/policy/admit/host-ports.ts';
import { forbiddenSysctl } from '../../../../machines/pod/policy/admit/sysctls.ts';
import { tolerates } from '../../../../machines/pod/policy/admit/tolerations.ts';
import { container } from '../fixtures.ts';
import { asker, node } from './fixtures.ts';

describe('a toleration', () => {
  const taint: Taint = { key: 'gone', value: 'yes', effect: 'NoExecute' };
  type Tolerations = NonNullable<PodSpec['tolerations']>;
  test.each<[string, Tolerations | undefined, boolean]>([
    ['none', undefined, false],
    ['of everything', [{ operator: 'Exists' }], true],
    ['of every taint of the effect', [{ operator: 'Exists', effect: 'NoExecute' }], true],
    ['of every taint of another effect', [{ operator: 'Exists', effect: 'NoSchedule' }], false],
    ['of the key', [{ key: 'gone', operator: 'Exists' }], true],
    ['of another key', [{ key: 'here', operator: 'Exists' }], false],
    ['of key and value', [{ key: 'gone', operator: 'Equal', value: 'yes' }], true],
    ['equality goes without saying', [{ key: 'gone', value: 'yes', effect: 'NoExecute' }], true],
    ['of another value', [{ key: 'gone', value: 'no' }], false],
    ['of no value', [{ key: 'gone' }], false],
    ['for a while', [{ key: 'gone', operator: 'Exists', tolerationSeconds: 3 }], true],
    ['by comparison, which is not in use', [{ key: 'gone', operator: 'Gt', value: 'yes' }], false],
    ['one of many is enough', [{ key: 'here' }, { key: 'gone', value: 'yes' }], true],
  ])('%s', (_case, tolerations, expected) => expect(tolerates(tolerations, taint)).toBe(expected));

  test('a taint without a value is matched by a toleration without one', () => {
    expect(tolerates([{ key: 'gone' }], { key: 'gone', effect: 'NoExecute' })).toBe(true);
  });
});

describe('a port of the host', () => {
  type Ports = NonNullable<Container['ports']>;
  const on = (uid: string, ports: Ports, spec: Partial<PodSpec> = {}) =>
    asker(uid, {}, { containers: [container('c', { ports })], ...spec });
  const port = (hostPort: number, more: Partial<Ports[number]> = {}) => ({ containerPort: 80, hostPort, ...more });

  test.each<[string, Ports, Ports, boolean]>([
    ['the same', [port(8088)], [port(8088)], true],
    ['another', [port(8088)], [port(8089)], false],
    ['of another protocol', [port(53)], [port(53, { protocol: 'UDP' })], false],
    ['TCP goes without saying', [port(53, { protocol: 'TCP' })], [port(53)], true],
    ['on another address', [port(53, { hostIP: '10.0.0.1' })], [port(53, { hostIP: '10.0.0.2' })], false],
    ['on the same address', [port(53, { hostIP: '10.0.0.1' })], [port(53, { hostIP: '10.0.0.1' })], true],
    ['on all addresses against one', [port(53)], [port(53, { hostIP: '10.0.0.2' })], true],
    ['on one address against all', [port(53, { hostIP: '10.0.0.1' })], [port(53, { hostIP: '0.0.0.0' })], true],
    ['of the container alone', [{ containerPort: 80 }], [{ containerPort: 80 }], false],
    ['one of many', [port(1), port(2)], [port(3), port(2)], true],
  ])('%s', (_case, wanted, theirs, expected) => {
    expect(portsAreTaken(on('p', wanted), [asker('x'), on('o', theirs)])).toBe(expected);
  });

  test('on the host’s network every port is one', () => {
    const hosts = on('o', [{ containerPort: 8088 }], { hostNetwork: true });
    expect(portsAreTaken(on('p', [port(8088)]), [hosts])).toBe(true);
    expect(portsAreTaken(on('p', [port(80)]), [hosts])).toBe(false);
  });

  test('sidecars hold theirs, init containers do not', () => {
    const holder = (more: Partial<Container>) =>
      asker('o', {}, { initContainers: [container('i', { ports: [port(8088)], ...more })] });
    expect(portsAreTaken(on('p', [port(8088)]), [holder({ restartPolicy: 'Always' })])).toBe(true);
    expect(portsAreTaken(on('p', [port(8088)]), [holder({})])).toBe(false);
  });
});

describe('a sysctl', () => {
  const judge = (name: string, spec: Partial<PodSpec> = {}, more: Parameters<typeof node>[0] = {}) =>
    forbiddenSysctl(asker('p', {}, { securityContext: { sysctls: [{ name, value: '1' }] }, ...spec }).spec, node(more));

  test.each([
    'kernel.shm_rmid_forced',
    'net.ipv4.ip_local_port_range',
    'net.ipv4.tcp_syncookies',
    'net.ipv4.ping_group_range',
    'net.ipv4.ip_unprivileged_port_start',
    'net.ipv4.ip_local_reserved_ports',
    'net.ipv4.tcp_keepalive_time',
    'net.ipv4.tcp_keepalive_intvl',
    'net.ipv4.tcp_keepalive_probes',
    'net.ipv4.tcp_fin_timeout',
    'net.ipv4.tcp_rmem',
    'net.ipv4.tcp_wmem',
    'net/ipv4/tcp_syncookies',
  ])('%s is safe', (name) => expect(judge(name)).toBeUndefined());

  test.each(['kernel.msgmax', 'net.ipv4.tcp_mem', 'vm.swappiness', 'constructor', 'net/core/somaxconn'])(
    '%s is not',
    (name) => expect(judge(name)).toBe(`"${name.replaceAll('/', '.')}" not allowlisted`),
  );

  test.each<[string, string, boolean]>([
    ['net.ipv4.tcp_wmem', '4.15.0', true],
    ['net.ipv4.tcp_wmem', '4.14.336-amzn2', false],
    ['net.ipv4.tcp_wmem', '5.2', true],
    ['net.ipv4.tcp_wmem', '3.99.0', false],
    ['net.ipv4.tcp_wmem', 'unknown', false],
    ['net.ipv4.tcp_fin_timeout', '4.5.9', false],
    ['net.ipv4.ip_local_reserved_ports', '3.16.0', true],
    ['net.ipv4.tcp_syncookies', '3.10.0', true],
  ])('%s on kernel %s: %p', (name, kernelVersion, safe) => {
    expect(judge(name, {}, { kernelVersion }) === undefined).toBe(safe);
  });

  test.each<[string, string[], boolean]>([
    ['kernel.msgmax', ['kernel.msgmax'], true],
    ['kernel.msgmax', ['kernel.msg*'], true],
    ['kernel.msgmax', ['kernel/msg*'], true],
    ['kernel.shmmax', ['kernel.msg*'], false],
    ['kernel.msgmax', ['kernel.msg'], false],
    ['net/ipv4/conf/eth0.100/rp_filter', ['net.ipv4.conf.eth0/100.rp_filter'], true],
    ['net.ipv4.conf.eth0/100.rp_filter', ['net.ipv4.conf.*'], true],
  ])('%s where %p is allowed: %p', (name, allowedUnsafeSysctls, allowed) => {
    expect(judge(name, {}, { allowedUnsafeSysctls }) === undefined).toBe(allowed);
  });

  test.each<[string, Partial<PodSpec>, string | undefined]>([
    ['net.core.somaxconn', { hostNetwork: true }, '"net.core.somaxconn" not allowed with host net enabled'],
    ['net.ipv4.tcp_syncookies', { hostNetwork: true }, '"net.ipv4.tcp_syncookies" not allowed with host net enabled'],
    ['kernel.shm_rmid_forced', { hostIPC: true }, '"kernel.shm_rmid_forced" not allowed with host ipc enabled'],
    ['kernel.sem', { hostIPC: true }, '"kernel.sem" not allowed with host ipc enabled'],
    ['fs.mqueue.msg_max', { hostIPC: true }, '"fs.mqueue.msg_max" not allowed with host ipc enabled'],
    ['kernel.sem', { hostNetwork: true }, undefined],
    ['net.core.somaxconn', { hostIPC: true }, undefined],
  ])('%s with %p', (name, spec, expected) => {
    expect(judge(name, spec, { allowedUnsafeSysctls: ['net.*', 'kernel.sem', 'fs.mqueue.*'] })).toBe(expected);
  });

  test('the first that is forbidden is told', () => {
    const sysctls = ['net.ipv4.tcp_syncookies', 'vm.a', 'vm.b'].map((name) => ({ name, value: '1' }));
    expect(forbiddenSysctl(asker('p', {}, { securityContext: { sysctls } }).spec, node())).toBe(
      '"vm.a" not allowlisted',
    );
  });
});
