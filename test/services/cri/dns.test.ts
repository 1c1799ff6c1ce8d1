import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { limitResolver, loopbackResolver, parseResolvConf } from '../../../services/cri/dns.ts';
import { hostResolver, resolverProblem } from '../../../services/cri/host-resolver.ts';
import { pod } from '../../support/fixtures.ts';

describe("the node's resolv.conf", () => {
  test('nameservers and options add up, the last search line counts, comments do not', () => {
    const text = [
      '# made by hand',
      'nameserver 10.0.0.1 # first',
      'search old.example',
      'options ndots:2',
      '  nameserver\tfe80::1',
      'search a.example. b.example .',
      'options timeout:1 rotate',
      'sortlist 10.0.0.0',
      'nameserver',
    ].join('\n');
    expect(parseResolvConf(text)).toEqual({
      nameservers: ['10.0.0.1', 'fe80::1'],
      searches: ['a.example', 'b.example', '.'],
      options: ['ndots:2', 'timeout:1', 'rotate'],
    });
  });

  test('none at all leaves a resolver that resolves nothing', () => {
    expect(loopbackResolver(false)).toEqual({ nameservers: ['127.0.0.1'], searches: ['.'], options: [] });
    expect(loopbackResolver(true).nameservers).toEqual(['::1']);
  });
});

describe('limits of a resolver', () => {
  test('B130 search domains are named once, in order, and cut to 32 and to 2048 characters', () => {
    const six = ['a.example', 'b.example', 'a.example', 'c.example', 'b.example', 'd.example'];
    const kept = limitResolver({ nameservers: [], searches: six, options: [] });
    expect(kept).toMatchObject({ dns: { searches: ['a.example', 'b.example', 'c.example', 'd.example'] }, cuts: [] });

    const many = Array.from({ length: 40 }, (_, i) => `${i}.example`);
    const cut = limitResolver({ nameservers: [], searches: many, options: [] });
    expect(cut.dns.searches).toEqual(many.slice(0, 32));
    expect(cut.cuts).toEqual([expect.stringContaining('some search paths have been omitted')]);

    const long = Array.from({ length: 20 }, (_, i) => `${String(i).padStart(3, '0')}${'x'.repeat(200)}`);
    const { dns } = limitResolver({ nameservers: [], searches: long, options: [] });
    expect(dns.searches).toEqual(long.slice(0, 10));
    expect(dns.searches.join(' ').length).toBeLessThanOrEqual(2048);
  });

  test('a search domain that no resolver takes is left out', () => {
    const searches = ['x'.repeat(254), 'a.example'];
    expect(limitResolver({ nameservers: [], searches, options: [] }).dns.searches).toEqual(['a.example']);
  });

  test('B131 the first three nameservers are kept, and what was left out is said', () => {
    const nameservers = ['10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.3', '10.0.0.4', '10.0.0.5'];
    const { dns, cuts } = limitResolver({ nameservers, searches: [], options: ['ndots:5'] });
    expect(dns).toEqual({ servers: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], searches: [], options: ['ndots:5'] });
    expect(cuts).toEqual([
      'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.0.0.1 10.0.0.2 10.0.0.3',
    ]);
  });
});

describe('the resolver of a pod', () => {
  test('is read anew for each sandbox; a cut is told once a pod', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dns-'));
    const file = join(directory, 'resolv.conf');
    const told: string[] = [];
    const resolver = hostResolver(file, (_pod, message) => told.push(message));
    const desired = pod();
    await writeFile(file, 'nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\nnameserver 1.1.1.4\n');
    expect((await resolver(desired)).servers).toHaveLength(3);
    await resolver(desired);
    expect(told).toHaveLength(1);
    await writeFile(file, 'nameserver 9.9.9.9\n');
    expect((await resolver(desired)).servers).toEqual(['9.9.9.9']);
    await rm(directory, { recursive: true });
    await expect(resolver(desired)).rejects.toMatchObject({ message: expect.stringContaining(file) });
  });

  test('without a file is the loopback', async () => {
    expect(await hostResolver('', () => undefined)(pod())).toEqual({
      servers: ['127.0.0.1'],
      searches: ['.'],
      options: [],
    });
  });
});

describe('a look at the resolver when the agent starts', () => {
  test.each([
    [Array.from({ length: 33 }, (_, n) => `d${n}`).join(' '), 'search line consisting of more than 32 domains!'],
    [`${'a.'.repeat(130)}b`, 'a search path which length is more than allowed 253 chars!'],
    [
      Array.from({ length: 10 }, (_, n) => `${n}${'c'.repeat(240)}`).join(' '),
      'search line which length is more than allowed 2048 chars!',
    ],
    ['cluster.local', undefined],
  ])('search %.12s…', async (search, problem) => {
    const directory = await mkdtemp(join(tmpdir(), 'dns-'));
    const file = join(directory, 'resolv.conf');
    await writeFile(file, `search ${search}\n`);
    const found = await resolverProblem(file);
    expect(found).toEqual(
      problem && expect.stringMatching(new RegExp(`^Resolv.conf file .${file}. contains .*${problem}$`)),
    );
    await rm(directory, { recursive: true });
  });

  test('tells a file that cannot be read, and nothing where none is wanted', async () => {
    expect(await resolverProblem('/nowhere/resolv.conf')).toMatch(
      /^resolvConf \/nowhere\/resolv.conf cannot be read: (Error: )?ENOENT/,
    );
    expect(await resolverProblem('')).toBeUndefined();
  });
});
