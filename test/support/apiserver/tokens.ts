import { generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Dict, KubeObject } from './objects.ts';
import { isDict, textAt } from './objects.ts';
import type { Store } from './store.ts';
import type { User } from './users.ts';

/** Issuer and default audience of service account tokens. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';

const encode = (value: Dict) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Service account tokens (JWT, ES256): issued by TokenRequest, known again as users while what they are bound to is there. */
export class Tokens {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#private = pair.privateKey;
    this.#public = pair.publicKey;
  }

  /** A token for the account, bound to the pod when one is given. */
  issue(
    account: KubeObject,
    audiences: readonly string[],
    seconds: number,
    pod?: KubeObject,
  ): { token: string; expires: number } {
    const { namespace = '', name = '', uid } = account.metadata;
    const issued = Math.floor(this.#now() / 1000);
    const nodeName = pod ? textAt(pod, 'spec.nodeName') : '';
    const claims = {
      aud: audiences,
      exp: issued + seconds,
      iat: issued,
      iss: ISSUER,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace,
        ...(nodeName && { node: { name: nodeName, uid: this.#store.get(`nodes/${nodeName}`)?.metadata.uid } }),
        ...(pod && { pod: { name: pod.metadata.name, uid: pod.metadata.uid } }),
        serviceaccount: { name, uid },
      },
      nbf: issued,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const body = `${encode({ alg: 'ES256', kid: 'test' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(body), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return { token: `${body}.${signature.toString('base64url')}`, expires: (issued + seconds) * 1000 };
  }

  /** Whom the token stands for, or undefined: wrong signature, out of time, other audience, account or pod gone. */
  user(token: string, audiences: readonly string[] = [ISSUER]): (User & { audiences: string[] }) | undefined {
    const [head = '', body = '', signature = ''] = token.split('.');
    const signed = Buffer.from(`${head}.${body}`);
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' } as const;
    if (!signature || !verify('sha256', signed, key, Buffer.from(signature, 'base64url'))) return undefined;
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      exp: number;
      aud: string[];
      'kubernetes.io': Dict;
    };
    const common = claims.aud.filter((audience) => audiences.includes(audience));
    if (claims.exp * 1000 <= this.#now() || !common.length) return undefined;
    const { namespace, serviceaccount, pod } = claims['kubernetes.io'];
    if (!isDict(serviceaccount) || typeof namespace !== 'string') return undefined;
    const name = textAt(serviceaccount, 'name');
    if (this.#store.get(`serviceaccounts/${namespace}/${name}`)?.metadata.uid !== serviceaccount['uid'])
      return undefined;
    if (isDict(pod) && this.#store.get(`pods/${namespace}/${textAt(pod, 'name')}`)?.metadata.uid !== pod['uid'])
      return undefined;
    return {
      username: `system:serviceaccount:${namespace}:${name}`,
      uid: textAt(serviceaccount, 'uid'),
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      audiences: common,
    };
  }
}
