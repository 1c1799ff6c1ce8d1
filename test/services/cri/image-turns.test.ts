import { describe, expect, test } from '@jest/globals';
import { ImageTurns } from '../../../services/cri/image-turns.ts';
import type { PullSettings } from '../../../services/cri/image-turns.ts';
import { FakeClock } from './fake-clock.ts';

const never = new AbortController().signal;
const settle = () => new Promise((done) => setImmediate(done));

/** Pulls that end on command; `pulled` lists the calls that were made. */
function rig(over: Partial<PullSettings> = {}) {
  const clock = new FakeClock();
  const settings = { serializeImagePulls: false, registryPullQPS: 0, registryBurst: 10, ...over };
  const turns = new ImageTurns<string>(settings, clock);
  const pulled: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const cut: string[] = [];
  const call = (image: string) => (signal: AbortSignal) => {
    pulled.push(image);
    const pull = Promise.withResolvers<string>();
    ends.set(image, pull);
    signal.addEventListener('abort', () => {
      cut.push(image);
      pull.reject(new Error('cut'));
    });
    return pull.promise;
  };
  /** Waits for the turn and pulls, as the imagePull machine does. */
  const get = async (image: string, podUid: string, signal = never) => {
    await turns.wait(image, podUid, signal);
    return turns.pull(image, podUid, call(image), signal);
  };
  return { clock, turns, pulled, ends, cut, get, call };
}

describe('image pulls', () => {
  test('B123 ten pods that want the same absent image share one pull', async () => {
    const { pulled, ends, get } = rig({ serializeImagePulls: true });
    const all = Array.from({ length: 10 }, (_, i) => get('busybox:1', `uid-${i}`));
    await settle();
    ends.get('busybox:1')?.resolve('sha256:1');
    expect(await Promise.all(all)).toEqual(Array(10).fill('sha256:1'));
    expect(pulled).toEqual(['busybox:1']);
  });

  test('a failed pull fails all who share it, and the next one is a new call', async () => {
    const { pulled, ends, get } = rig();
    const both = [get('a:1', 'uid-1'), get('a:1', 'uid-2')];
    await settle();
    ends.get('a:1')?.reject(new Error('no route'));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    void get('a:1', 'uid-1');
    await settle();
    expect(pulled).toEqual(['a:1', 'a:1']);
  });

  test('serialised pulls go one after another', async () => {
    const { pulled, ends, get } = rig({ serializeImagePulls: true });
    void get('a:1', 'uid-1');
    void get('b:1', 'uid-2');
    await settle();
    expect(pulled).toEqual(['a:1']);
    ends.get('a:1')?.resolve('sha256:a');
    await settle();
    expect(pulled).toEqual(['a:1', 'b:1']);
  });

  test('parallel pulls are bounded by maxParallelImagePulls', async () => {
    const { pulled, get } = rig({ maxParallelImagePulls: 2 });
    for (const image of ['a:1', 'b:1', 'c:1']) void get(image, `uid-${image}`);
    await settle();
    expect(pulled).toEqual(['a:1', 'b:1']);
  });

  test('parallel pulls without a bound all begin', async () => {
    const { pulled, get } = rig();
    for (const image of ['a:1', 'b:1', 'c:1']) void get(image, `uid-${image}`);
    await settle();
    expect(pulled).toEqual(['a:1', 'b:1', 'c:1']);
  });

  test('a pull is cut when the last pod that wants it leaves, not before', async () => {
    const { cut, pulled, get } = rig();
    const [first, second] = [new AbortController(), new AbortController()];
    const pulls = [get('a:1', 'uid-1', first.signal), get('a:1', 'uid-2', second.signal)];
    const ended = Promise.allSettled(pulls);
    await settle();
    first.abort();
    await settle();
    expect(cut).toEqual([]);
    second.abort();
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    expect(cut).toEqual(['a:1']);
    void get('a:1', 'uid-3');
    await settle();
    expect(pulled).toEqual(['a:1', 'a:1']);
  });

  test('a turn whose pod went away goes to the next', async () => {
    const { clock, turns, pulled, get } = rig({ serializeImagePulls: true });
    await turns.wait('a:1', 'uid-gone', never);
    void get('b:1', 'uid-2');
    await settle();
    expect(pulled).toEqual([]);
    clock.advance(1_000);
    await settle();
    expect(pulled).toEqual(['b:1']);
  });

  test('a wait can be given up', async () => {
    const { turns, get, pulled } = rig({ serializeImagePulls: true });
    void get('a:1', 'uid-1');
    const giveUp = new AbortController();
    const waiting = turns.wait('b:1', 'uid-2', giveUp.signal);
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELLED' });
    await settle();
    expect(pulled).toEqual(['a:1']);
  });

  test('pulls begin at most at registryPullQPS after a burst', async () => {
    const { clock, pulled, get } = rig({ registryPullQPS: 2, registryBurst: 2 });
    for (const image of ['a:1', 'b:1', 'c:1', 'd:1']) void get(image, `uid-${image}`);
    await settle();
    expect(pulled).toEqual(['a:1', 'b:1']);
    clock.advance(499);
    await settle();
    expect(pulled).toHaveLength(2);
    clock.advance(1);
    await settle();
    expect(pulled).toEqual(['a:1', 'b:1', 'c:1']);
    clock.advance(500);
    await settle();
    expect(pulled).toHaveLength(4);
  });
});
