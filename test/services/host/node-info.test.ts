import { expect, test } from '@jest/globals';
import { nodeInfo } from '../../../services/host/index.ts';
import { defaultInterface, hostAddresses } from '../../../services/host/node-info.ts';

const address = (family: 'IPv4' | 'IPv6', ip: string, internal = false) =>
  ({ family, address: ip, internal, netmask: '', mac: '', cidr: null, scopeid: 0 }) as never;

test('the node’s addresses are those of the default route’s interface, one per family, never link-local', () => {
  const interfaces = {
    lo: [address('IPv4', '127.0.0.1', true)],
    docker0: [address('IPv4', '172.17.0.1')],
    eth0: [address('IPv6', 'fe80::1'), address('IPv6', 'fd00::2'), address('IPv4', '192.0.2.2')],
  };
  const routes =
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t0102\t3\t0\t0\t0\t00000000\n';
  expect(defaultInterface(routes)).toBe('eth0');
  expect(hostAddresses(interfaces, 'eth0')).toEqual(['192.0.2.2', 'fd00::2']);
});

test('the node is described', async () => {
  const info = await nodeInfo();
  expect(info.memoryCapacityBytes).toBeGreaterThan(0);
  expect(info.nodeName).toBe(info.nodeName.toLowerCase());
});
