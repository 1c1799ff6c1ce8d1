import { expect, test } from '@jest/globals';
import { createActor, toPromise } from 'xstate';
import type { VolumeFile } from '../../../machines/pod/policy/volume-content.ts';
import { volumeSlots } from '../../../services/kube/volume-slots.ts';
import { pod } from '../../support/fixtures.ts';

const authority = {
  name: 'kube-api-access',
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
  },
};

test('objects and tokens of a volume are asked for beside each other, and written together', async () => {
  const asked: string[] = [];
  const written: (readonly VolumeFile[])[] = [];
  const bothAsked = Promise.withResolvers<void>();
  const ask = (what: string) => {
    asked.push(what);
    if (asked.length === 2) bothAsked.resolve();
    return bothAsked.promise;
  };
  const slots = volumeSlots({
    allocatable: {},
    host: {
      mountVolume(_pod, _volume, files) {
        written.push(files);
        return Promise.resolve();
      },
    },
    objects: {
      async read() {
        await ask('objects');
        return () => ({ data: { 'ca.crt': 'AUTHORITY' } });
      },
    },
    tokens: {
      async get() {
        await ask('token');
        return { token: 'TOKEN', refreshAfterMs: 1000 };
      },
    },
  });

  const mounting = createActor(slots.mountVolume, { input: { pod: pod(), volume: authority } });
  mounting.start();

  expect(await toPromise(mounting)).toEqual({ refreshAfterMs: 1000 });
  expect(asked.toSorted()).toEqual(['objects', 'token']);
  const texts = written.map((files) => files.map(({ path, data }) => [path, 'text' in data ? data.text : '']));
  expect(texts).toEqual([
    [
      ['token', 'TOKEN'],
      ['ca.crt', 'AUTHORITY'],
    ],
  ]);
});
