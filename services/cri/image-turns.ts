import { abortedError } from './errors.ts';
import { systemClock } from './turns.ts';
import type { Clock } from './turns.ts';

export interface PullSettings {
  /** serializeImagePulls: one at a time. */
  serializeImagePulls: boolean;
  /** maxParallelImagePulls where pulls are not serialised; undefined for no bound. */
  maxParallelImagePulls?: number;
  /** registryPullQPS, pulls begun a second; 0 for no bound. */
  registryPullQPS: number;
  /** registryBurst: pulls that may begin at once after a quiet time. */
  registryBurst: number;
}

/** A turn that was granted and whose pull has not come is given on after this time, ms: its pod is gone. */
const UNUSED_MS = 1_000;

interface Waiting {
  image: string;
  key: string;
  begin: () => void;
}

interface Pull<T> {
  answer: Promise<T>;
  abort: AbortController;
  /** Who waits for it; the last one to leave ends it. */
  waiting: number;
}

/**
 * When images may be pulled: as many at a time and a second as is configured, and each image by one call whose answer
 * all who want it share. Who wants an image that is being pulled needs no turn (images/puller.go, images/image_manager.go).
 */
export class ImageTurns<T> {
  readonly #settings: PullSettings;
  readonly #clock: Clock;
  readonly #queue: Waiting[] = [];
  readonly #pulls = new Map<string, Pull<T>>();
  /** Turns granted, by who asked: image and pod. */
  readonly #granted = new Map<string, { image: string; unused: { cancel(): void } }>();
  #tokens: number;
  #filledAt: number;
  #refilling = false;

  constructor(settings: PullSettings, clock: Clock = systemClock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tokens = settings.registryBurst;
    this.#filledAt = clock.now();
  }

  /** Resolves when the pull may begin; `pull` by the same image and pod is then expected at once. */
  wait(image: string, podUid: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortedError('waiting to pull an image'));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        image,
        key: keyOf(image, podUid),
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(abortedError('waiting to pull an image'));
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(waiting);
      this.#admit();
    });
  }

  /**
   * Pulls an image, or joins the pull that is under way. An abort ends the wait, and the pull with the last wait for it.
   *
   * @param call makes the one PullImage
   * @throws AgentError `CANCELLED`, and whatever the call throws
   */
  async pull(
    image: string,
    podUid: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (signal.aborted) throw abortedError('PullImage');
    this.#granted.get(keyOf(image, podUid))?.unused.cancel();
    this.#granted.delete(keyOf(image, podUid));
    const pull = this.#pulls.get(image) ?? this.#begin(image, call);
    pull.waiting += 1;
    this.#admit();
    return await new Promise<T>((resolve, reject) => {
      const leave = () => {
        pull.waiting -= 1;
        if (pull.waiting === 0) pull.abort.abort();
        reject(abortedError('PullImage'));
      };
      signal.addEventListener('abort', leave, { once: true });
      pull.answer.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  #begin(image: string, call: (signal: AbortSignal) => Promise<T>): Pull<T> {
    const abort = new AbortController();
    const over = () => {
      if (this.#pulls.get(image) === pull) this.#pulls.delete(image);
      this.#admit();
    };
    const pull: Pull<T> = { answer: call(abort.signal).finally(over), abort, waiting: 0 };
    // Nobody waits any more for a pull that was given up: who comes now begins another.
    abort.signal.addEventListener('abort', over, { once: true });
    this.#pulls.set(image, pull);
    return pull;
  }

  #admit(): void {
    for (const waiting of [...this.#queue]) {
      const shared = this.#pulls.has(waiting.image);
      if (!shared && !this.#mayBegin(waiting.image)) continue;
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      if (!shared) this.#grant(waiting);
      waiting.begin();
    }
  }

  /** Whether there is a place and a token for one more pull. */
  #mayBegin(image: string): boolean {
    const { serializeImagePulls, maxParallelImagePulls = Infinity } = this.#settings;
    const granted = [...this.#granted.values()];
    // Another pod's pull of this image begins in a moment and can be shared.
    if (granted.some((grant) => grant.image === image)) return false;
    const places = serializeImagePulls ? 1 : maxParallelImagePulls;
    return this.#pulls.size + granted.length < places && this.#takeToken();
  }

  #takeToken(): boolean {
    const { registryPullQPS, registryBurst } = this.#settings;
    if (registryPullQPS === 0) return true;
    const now = this.#clock.now();
    this.#tokens = Math.min(registryBurst, this.#tokens + ((now - this.#filledAt) / 1000) * registryPullQPS);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return true;
    }
    if (!this.#refilling)
      this.#clock.after(((1 - this.#tokens) / registryPullQPS) * 1000, () => {
        this.#refilling = false;
        this.#admit();
      });
    this.#refilling = true;
    return false;
  }

  #grant({ image, key }: Waiting): void {
    const unused = this.#clock.after(UNUSED_MS, () => {
      this.#granted.delete(key);
      this.#admit();
    });
    this.#granted.set(key, { image, unused });
  }
}

function keyOf(image: string, podUid: string): string {
  return `${podUid}_${image}`;
}
