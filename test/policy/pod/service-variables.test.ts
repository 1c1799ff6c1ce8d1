import { describe, expect, test } from '@jest/globals';
import type { NodeService } from '../../../machines/pod/objects.types.ts';
import { isSeenFrom, serviceVariables } from '../../../machines/pod/policy/service-variables.ts';

const service = (namespace: string, name: string, more: Partial<NodeService> = {}): NodeService => ({
  namespace,
  name,
  clusterIP: '10.96.0.10',
  ports: [{ port: 80 }],
  ...more,
});
const kubernetes = service('default', 'kubernetes', {
  clusterIP: '10.96.0.1',
  ports: [{ name: 'https', protocol: 'TCP', port: 443 }],
});
const seen = (services: NodeService[], namespace = 'shop', enableServiceLinks = true) =>
  Object.fromEntries(serviceVariables(services, { namespace, enableServiceLinks }));

describe('variables of services', () => {
  test('are those of the kubelet, in its order', () => {
    const web = service('shop', 'web-front', {
      ports: [
        { name: 'http', protocol: 'TCP', port: 80 },
        { name: 'dns-udp', protocol: 'UDP', port: 53 },
      ],
    });
    expect([...serviceVariables([web], { namespace: 'shop', enableServiceLinks: true })]).toEqual([
      ['WEB_FRONT_SERVICE_HOST', '10.96.0.10'],
      ['WEB_FRONT_SERVICE_PORT', '80'],
      ['WEB_FRONT_SERVICE_PORT_HTTP', '80'],
      ['WEB_FRONT_SERVICE_PORT_DNS_UDP', '53'],
      ['WEB_FRONT_PORT', 'tcp://10.96.0.10:80'],
      ['WEB_FRONT_PORT_80_TCP', 'tcp://10.96.0.10:80'],
      ['WEB_FRONT_PORT_80_TCP_PROTO', 'tcp'],
      ['WEB_FRONT_PORT_80_TCP_PORT', '80'],
      ['WEB_FRONT_PORT_80_TCP_ADDR', '10.96.0.10'],
      ['WEB_FRONT_PORT_53_UDP', 'udp://10.96.0.10:53'],
      ['WEB_FRONT_PORT_53_UDP_PROTO', 'udp'],
      ['WEB_FRONT_PORT_53_UDP_PORT', '53'],
      ['WEB_FRONT_PORT_53_UDP_ADDR', '10.96.0.10'],
    ]);
  });

  test('a port without protocol is TCP, and an address of IPv6 stands in brackets where a port follows', () => {
    expect(seen([service('shop', 'db', { clusterIP: 'fd00::a', ports: [{ port: 5432 }] })])).toEqual({
      DB_SERVICE_HOST: 'fd00::a',
      DB_SERVICE_PORT: '5432',
      DB_PORT: 'tcp://[fd00::a]:5432',
      DB_PORT_5432_TCP: 'tcp://[fd00::a]:5432',
      DB_PORT_5432_TCP_PROTO: 'tcp',
      DB_PORT_5432_TCP_PORT: '5432',
      DB_PORT_5432_TCP_ADDR: 'fd00::a',
    });
  });

  test('a service without an address of the cluster gives none', () => {
    const headless = ['None', ''].map((clusterIP, i) => service('shop', `s${i}`, { clusterIP }));
    expect(seen(headless)).toEqual({});
  });

  test('a pod sees those of its namespace and the API server’s own', () => {
    const all = [
      service('shop', 'b'),
      service('shop', 'a'),
      service('other', 'c'),
      service('default', 'd'),
      kubernetes,
    ];
    expect(Object.keys(seen(all)).filter((name) => name.endsWith('_HOST'))).toEqual([
      'A_SERVICE_HOST',
      'B_SERVICE_HOST',
      'KUBERNETES_SERVICE_HOST',
    ]);
    expect(all.filter((one) => isSeenFrom('shop', one)).map(({ name }) => name)).toEqual(['b', 'a', 'kubernetes']);
  });

  test('without enableServiceLinks it sees the API server’s own alone, in namespace default too', () => {
    const all = [service('shop', 'a'), service('default', 'd'), kubernetes];
    for (const namespace of ['shop', 'default'])
      expect(Object.keys(seen(all, namespace, false)).filter((name) => name.endsWith('_HOST'))).toEqual([
        'KUBERNETES_SERVICE_HOST',
      ]);
  });

  test('a service of the namespace that is called as the API server’s own stands in for it, whatever the order', () => {
    const own = service('shop', 'kubernetes', { clusterIP: '10.96.9.9' });
    for (const all of [
      [own, kubernetes],
      [kubernetes, own],
    ]) {
      expect(seen(all)['KUBERNETES_SERVICE_HOST']).toBe('10.96.9.9');
      expect(seen(all, 'shop', false)['KUBERNETES_SERVICE_HOST']).toBe('10.96.0.1');
    }
  });
});
