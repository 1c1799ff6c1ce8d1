import type { PodSpec, Taint } from '../../../kubernetes.types.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Whether one of the tolerations covers the taint, for however long (api/core/v1/toleration.go:ToleratesTaint). */
export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((toleration) => covers(toleration, taint));
}

/** An effect or key that is not given stands for all; `Lt` and `Gt` are behind a feature gate that is off. */
function covers({ effect, key, operator, value }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '');
}
