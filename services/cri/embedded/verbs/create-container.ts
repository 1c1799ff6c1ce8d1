import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ContainerConfig, SecurityProfile } from '../../proto/generated/cri.ts';
import { ContainerEventType, LinuxContainerResources, SecurityProfile_ProfileType } from '../../proto/generated/cri.ts';
import { nowNs } from '../clock.ts';
import { invalid, notFound } from '../errors.ts';
import { makeFifos } from '../fifo.ts';
import { containerName } from '../names.ts';
import type { ContainerRecord } from '../records.ts';
import type { ContainerEntry } from '../runtime.ts';
import type { Verb } from './verb.ts';
import { makeDirectory } from '../../../host/make-directory.ts';

/** Books a container in a ready sandbox: its name, its directory with named pipes, its mounts' host directories. */
export const createContainer: Verb<'CreateContainer'> = async (runtime, request, context) => {
  const { config } = request;
  if (config?.metadata === undefined) throw invalid('container config must include metadata');
  const sandbox = runtime.findSandbox(request.podSandboxId);
  if (sandbox === undefined) throw notFound(`failed to find sandbox id "${request.podSandboxId}"`);
  const sandboxId = sandbox.record.id;
  const assertReady = (): void => {
    if (sandbox.record.state === 'ready') return;
    throw notFound(`failed to get sandbox container task: no running task found: task ${sandboxId} not found`);
  };
  assertReady();
  const id = randomBytes(32).toString('hex');
  const name = containerName(sandbox.record.config, config);
  runtime.reserve('container', name, id);
  try {
    await context.midway();
    const image = runtime.images.find(config.image?.image ?? '');
    if (image === undefined) throw notFound(`failed to get image from containerd "${config.image?.image ?? ''}"`);
    const directory = runtime.records.containerDirectory(id);
    await makeDirectory(join(directory, 'scratch'), 0o700);
    await makeFifos(['stdout', 'stderr', 'stdin'].map((pipe) => join(directory, pipe)));
    await prepareMounts(config);
    const { logDirectory } = sandbox.record.config;
    const record: ContainerRecord = {
      id,
      sandboxId,
      config,
      imageId: image.id,
      imageRef: image.repoDigests[0] ?? image.id,
      logPath: logDirectory === '' || config.logPath === '' ? '' : join(logDirectory, config.logPath),
      phase: 'created',
      createdAt: nowNs(),
      startedAt: 0n,
      finishedAt: 0n,
      exitCode: 0,
      reason: '',
      message: '',
      resources: LinuxContainerResources.fromPartial(config.linux?.resources ?? {}),
      pid: 0,
      pidStartTime: '',
    };
    await runtime.records.saveContainer(record);
    assertReady();
    const entry: ContainerEntry = { record, name, exited: Promise.resolve() };
    runtime.containers.set(id, entry);
  } catch (error) {
    await runtime.records.removeContainer(id);
    runtime.release('container', name);
    throw error;
  }
  const unapplied = notApplied(config);
  if (unapplied.length > 0) {
    runtime.logger.warn(
      { containerId: id, container: name, notApplied: unapplied },
      'no isolation: settings not applied',
    );
  }
  runtime.publish(ContainerEventType.CONTAINER_CREATED_EVENT, id, sandboxId);
  return { containerId: id };
};

/** containerd makes a directory where a mount's host path does not exist; so does this. */
async function prepareMounts(config: ContainerConfig): Promise<void> {
  for (const mount of config.mounts) {
    if (mount.image?.image) throw invalid(`mount of image "${mount.image.image}": no image has content here`);
    const found = await stat(mount.hostPath).catch(() => undefined);
    if (found === undefined) await makeDirectory(mount.hostPath);
  }
}

/** Names of the settings in a config that a plain process cannot be given; they are reported back but not applied. */
function notApplied(config: ContainerConfig): string[] {
  const security = config.linux?.securityContext;
  const uid = BigInt(process.getuid?.() ?? 0);
  const gid = BigInt(process.getgid?.() ?? 0);
  const settings: Record<string, boolean> = {
    'mounts.readonly': config.mounts.some((mount) => mount.readonly),
    devices: config.devices.length > 0,
    CDI_devices: config.CDIDevices.length > 0,
    tty: config.tty,
    'security_context.run_as_user': security?.runAsUser !== undefined && security.runAsUser.value !== uid,
    'security_context.run_as_username': Boolean(security?.runAsUsername),
    'security_context.run_as_group': security?.runAsGroup !== undefined && security.runAsGroup.value !== gid,
    'security_context.supplemental_groups': (security?.supplementalGroups ?? []).length > 0,
    'security_context.readonly_rootfs': security?.readonlyRootfs === true,
    'security_context.privileged': security?.privileged === true,
    'security_context.capabilities': security?.capabilities !== undefined,
    'security_context.selinux_options': security?.selinuxOptions !== undefined,
    'security_context.seccomp': isConfined(security?.seccomp),
    'security_context.apparmor': isConfined(security?.apparmor),
    resources: hasLimits(config.linux?.resources),
  };
  return Object.keys(settings).filter((name) => settings[name]);
}

function isConfined(profile: SecurityProfile | undefined): boolean {
  return profile !== undefined && profile.profileType !== SecurityProfile_ProfileType.Unconfined;
}

function hasLimits(resources: LinuxContainerResources | undefined): boolean {
  if (resources === undefined) return false;
  return resources.cpuQuota > 0n || resources.memoryLimitInBytes > 0n || resources.hugepageLimits.length > 0;
}
