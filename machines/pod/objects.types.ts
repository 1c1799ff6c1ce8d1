import type { ObjectMeta } from '../kubernetes.types.ts';

/** A ConfigMap or Secret that a pod names; always of the pod's own namespace. */
export interface ObjectReference {
  kind: 'ConfigMap' | 'Secret';
  name: string;
}

/** A ConfigMap or Secret as it stands on the wire: a Secret's `data` is base64, a ConfigMap's is text. */
export interface ConfigObject {
  metadata?: ObjectMeta;
  data?: Record<string, string>;
  /** Of a ConfigMap alone; base64. */
  binaryData?: Record<string, string>;
  /** It never changes again, so nobody need watch it. */
  immutable?: boolean;
}

/** The object that the API has under a reference; undefined where it has none. Never throws. */
export type ObjectLookup = (reference: ObjectReference) => ConfigObject | undefined;
