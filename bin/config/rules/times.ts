import { durationMs } from '../duration.ts';
import type { Rule } from './rule.types.ts';

const SECOND = 1000;

/** Durations and how they stand to each other: validation.go:ValidateKubeletConfiguration, kubelet.go:NewMainKubelet. */
export const times: Rule = ({ config, flags, gate }, fail) => {
  const period = durationMs(config.cpuCFSQuotaPeriod);
  if (!gate('CustomCPUCFSQuotaPeriod') && period !== 100)
    fail(
      'cpuCFSQuotaPeriod',
      `${config.cpuCFSQuotaPeriod} needs feature gate CustomCPUCFSQuotaPeriod: accepted is 100ms`,
    );
  if (gate('CustomCPUCFSQuotaPeriod') && (period < 1 || period > SECOND))
    fail('cpuCFSQuotaPeriod', `${config.cpuCFSQuotaPeriod} is out of range: accepted are 1ms to 1s`);
  if (durationMs(config.syncFrequency) <= 0)
    fail('syncFrequency', `${config.syncFrequency} is out of range: accepted is more than 0s`);
  if (durationMs(config.containerLogMonitorInterval) < 3 * SECOND)
    fail(
      'containerLogMonitorInterval',
      `${config.containerLogMonitorInterval} is out of range: accepted are 3s and more`,
    );
  if (durationMs(flags.minimumContainerTtlDuration) < 0)
    fail(
      '--minimum-container-ttl-duration',
      `${flags.minimumContainerTtlDuration} is out of range: accepted are 0s and more`,
    );
  imageAges({ config, flags, gate }, fail);
  restartPeriod({ config, flags, gate }, fail);
  shutdown({ config, flags, gate }, fail);
};

const imageAges: Rule = ({ config, gate }, fail) => {
  const least = durationMs(config.imageMinimumGCAge);
  const most = durationMs(config.imageMaximumGCAge);
  if (least < 0) fail('imageMinimumGCAge', `${config.imageMinimumGCAge} is out of range: accepted are 0s and more`);
  if (!gate('ImageMaximumGCAge') && most !== 0)
    fail('imageMaximumGCAge', `${config.imageMaximumGCAge} needs feature gate ImageMaximumGCAge: accepted is 0s`);
  else if (most < 0) fail('imageMaximumGCAge', `${config.imageMaximumGCAge} is out of range: accepted are 0s and more`);
  else if (most > 0 && most <= least)
    fail(
      'imageMaximumGCAge',
      `${config.imageMaximumGCAge} is not more than imageMinimumGCAge (${config.imageMinimumGCAge}): accepted is 0s (off) or more than that`,
    );
};

const restartPeriod: Rule = ({ config, gate }, fail) => {
  const path = 'crashLoopBackOff.maxContainerRestartPeriod';
  const period = config.crashLoopBackOff.maxContainerRestartPeriod;
  const on = gate('KubeletCrashLoopBackOffMax');
  if (period === undefined) {
    if (on) fail(path, 'is not set: accepted are 1s to 300s');
  } else if (!on) fail(path, `${period} needs feature gate KubeletCrashLoopBackOffMax`);
  else {
    const ms = Math.trunc(durationMs(period));
    if (ms < SECOND || ms > 300 * SECOND) fail(path, `${period} is out of range: accepted are 1s to 300s`);
  }
};

const shutdown: Rule = ({ config, gate }, fail) => {
  const total = durationMs(config.shutdownGracePeriod);
  const critical = durationMs(config.shutdownGracePeriodCriticalPods);
  const named = [
    ['shutdownGracePeriod', config.shutdownGracePeriod, total],
    ['shutdownGracePeriodCriticalPods', config.shutdownGracePeriodCriticalPods, critical],
  ] as const;
  for (const [path, text, ms] of named) {
    if (!gate('GracefulNodeShutdown')) {
      if (ms > 0) fail(path, `${text} needs feature gate GracefulNodeShutdown: accepted is 0s`);
    } else if (ms < 0 || (ms > 0 && ms < SECOND))
      fail(path, `${text} is out of range: accepted are 0s (off) and 1s and more`);
  }
  if (gate('GracefulNodeShutdown') && critical > total)
    fail(
      'shutdownGracePeriodCriticalPods',
      `${config.shutdownGracePeriodCriticalPods} is more than shutdownGracePeriod (${config.shutdownGracePeriod}): accepted is up to that`,
    );
  if (!config.shutdownGracePeriodByPodPriority?.length) return;
  if (!gate('GracefulNodeShutdownBasedOnPodPriority'))
    fail('shutdownGracePeriodByPodPriority', 'needs feature gate GracefulNodeShutdownBasedOnPodPriority');
  else if (total > 0 || critical > 0)
    fail(
      'shutdownGracePeriodByPodPriority',
      'stands beside shutdownGracePeriod or shutdownGracePeriodCriticalPods: accepted is one way or the other',
    );
};
