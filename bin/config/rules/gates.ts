import { ALL_GATES, gateNamed, isKnownGate } from '../gates.ts';
import { joinPath } from '../schema.ts';
import type { Rule } from './rule.types.ts';

/** Feature gates themselves and fields that need one: component-base/featuregate, validation.go. */
export const gates: Rule = ({ config, gate }, fail) => {
  for (const [name, value] of Object.entries(config.featureGates ?? {})) {
    const path = joinPath('featureGates', name);
    const known = gateNamed(name);
    if (!isKnownGate(name))
      fail(path, 'is no feature gate: accepted are those of Kubernetes 1.36, AllAlpha and AllBeta');
    else if (known?.locked && known.default !== value)
      fail(path, `${value} is not accepted: it is locked to ${known.default}`);
  }
  for (const { name, dependsOn = [] } of ALL_GATES)
    for (const other of dependsOn)
      if (gate(name) && !gate(other))
        fail(
          joinPath('featureGates', name),
          `is on while ${other}, which it needs, is off: accepted are both on, or ${name} off`,
        );
  if (config.serverTLSBootstrap && !gate('RotateKubeletServerCertificate'))
    fail('serverTLSBootstrap', 'true needs feature gate RotateKubeletServerCertificate');
  if (config.memorySwap.swapBehavior && !gate('NodeSwap'))
    fail('memorySwap.swapBehavior', 'needs feature gate NodeSwap');
  if (config.memoryReservationPolicy === 'TieredReservation' && !gate('MemoryQoS'))
    fail('memoryReservationPolicy', 'TieredReservation needs feature gate MemoryQoS: accepted is None');
  if (config.memoryThrottlingFactor <= 0 || config.memoryThrottlingFactor > 1)
    fail(
      'memoryThrottlingFactor',
      `${config.memoryThrottlingFactor} is out of range: accepted are numbers above 0 up to 1`,
    );
  if (config.runOnce) fail('runOnce', 'true is not accepted: running once was removed from the kubelet');
  if (config.enableSystemLogQuery && !gate('NodeLogQuery'))
    fail('enableSystemLogQuery', 'true needs feature gate NodeLogQuery');
  if (config.enableSystemLogQuery && !config.enableSystemLogHandler)
    fail(
      'enableSystemLogQuery',
      'true needs enableSystemLogHandler: accepted are both true, or enableSystemLogQuery false',
    );
  if (!['', '1.35'].includes(config.showHiddenMetricsForVersion))
    fail(
      'showHiddenMetricsForVersion',
      `${JSON.stringify(config.showHiddenMetricsForVersion)} is not accepted: accepted are "" and "1.35"`,
    );
};
