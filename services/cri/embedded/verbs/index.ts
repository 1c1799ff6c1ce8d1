import type { MethodName } from '../methods.ts';
import {
  containerStatusVerb,
  listContainers,
  reopenContainerLog,
  updateContainerResources,
} from './container-views.ts';
import { createContainer } from './create-container.ts';
import { execSync } from './exec-sync.ts';
import { imageFsInfo, imageStatus, listImages, pullImage, removeImage } from './images.ts';
import { runtimeConfig, runtimeStatus, updateRuntimeConfig, version } from './runtime-views.ts';
import { removePodSandbox, runPodSandbox, stopPodSandbox } from './sandbox-lifecycle.ts';
import { listPodSandbox, podSandboxStatus } from './sandbox-views.ts';
import { startContainer } from './start-container.ts';
import { containerStats, listContainerStats } from './stats.ts';
import { removeContainer, stopContainer } from './container-end.ts';
import type { Verb } from './verb.ts';

/** The unary methods that are implemented; every other one answers UNIMPLEMENTED. */
export const verbs: { readonly [Name in MethodName]?: Verb<Name> } = {
  ContainerStats: containerStats,
  ContainerStatus: containerStatusVerb,
  CreateContainer: createContainer,
  ExecSync: execSync,
  ImageFsInfo: imageFsInfo,
  ImageStatus: imageStatus,
  ListContainers: listContainers,
  ListContainerStats: listContainerStats,
  ListImages: listImages,
  ListPodSandbox: listPodSandbox,
  PodSandboxStatus: podSandboxStatus,
  PullImage: pullImage,
  RemoveContainer: removeContainer,
  RemoveImage: removeImage,
  RemovePodSandbox: removePodSandbox,
  ReopenContainerLog: reopenContainerLog,
  RunPodSandbox: runPodSandbox,
  RuntimeConfig: runtimeConfig,
  StartContainer: startContainer,
  Status: runtimeStatus,
  StopContainer: stopContainer,
  StopPodSandbox: stopPodSandbox,
  UpdateContainerResources: updateContainerResources,
  UpdateRuntimeConfig: updateRuntimeConfig,
  Version: version,
};
