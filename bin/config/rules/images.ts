import { shown } from '../problem.ts';
import { quantityOf } from '../decode.ts';
import type { Fail, Rule } from './rule.types.ts';

/** Image pulls, collection and the allow-list, container logs: validation.go, pkg/kubelet/images/pullmanager. */
export const images: Rule = ({ config, gate }, fail) => {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high } = config;
  if (low >= high)
    fail(
      'imageGCLowThresholdPercent',
      `${low} is not below imageGCHighThresholdPercent (${high}): accepted is less than that`,
    );
  if (config.serializeImagePulls && (config.maxParallelImagePulls ?? 0) > 1)
    fail(
      'maxParallelImagePulls',
      `${config.maxParallelImagePulls} needs serializeImagePulls false: accepted is 1, or serializeImagePulls false`,
    );
  if (quantityOf(config.containerLogMaxSize) === undefined)
    fail(
      'containerLogMaxSize',
      `${shown(config.containerLogMaxSize)} is not a quantity: accepted is text such as "10Mi"; a negative one turns rotation off`,
    );
  const verified = gate('KubeletEnsureSecretPulledImages');
  const policy = config.imagePullCredentialsVerificationPolicy;
  const list = config.preloadedImagesVerificationAllowlist ?? [];
  if (!verified && policy)
    fail('imagePullCredentialsVerificationPolicy', `${policy} needs feature gate KubeletEnsureSecretPulledImages`);
  if (!list.length) return;
  if (!verified) fail('preloadedImagesVerificationAllowlist', 'needs feature gate KubeletEnsureSecretPulledImages');
  else if (policy !== 'NeverVerifyAllowlistedImages')
    fail(
      'preloadedImagesVerificationAllowlist',
      `is not accepted with imagePullCredentialsVerificationPolicy ${policy}: accepted is NeverVerifyAllowlistedImages`,
    );
  else list.forEach((pattern, i) => allowed(pattern, `preloadedImagesVerificationAllowlist[${i}]`, fail));
};

/** An image without tag or digest, or `host/path/*`. */
function allowed(pattern: string, path: string, fail: Fail): void {
  const wrong = (why: string) =>
    fail(path, `${shown(pattern)} ${why}: accepted is an image name without tag or digest, or registry/path/*`);
  const wild = pattern.endsWith('/*');
  const name = wild ? pattern.slice(0, -2) : pattern;
  if (pattern !== pattern.trim()) return wrong('has white space around it');
  if (name.includes('*')) return wrong('has "*" elsewhere than as a trailing "/*"');
  if (!name) return wrong(wild ? 'has no registry host before its wildcard' : 'is empty');
  const [host = '', ...steps] = name.split('/');
  const hosted = /[.:]/.test(host) || host === 'localhost';
  if (wild) {
    if (!hosted) return wrong('has no registry host before its wildcard');
    if (!/^[A-Za-z0-9.-]+(:\d+)?$/.test(host) || !steps.every((s) => COMPONENT.test(s))) wrong('is not an image name');
    return;
  }
  const rest = hosted && steps.length ? steps.join('/') : name;
  if (/@/.test(rest) || /:[\w][\w.-]*$/.test(rest)) return wrong('has a tag or digest');
  if (!rest.split('/').every((s) => COMPONENT.test(s))) wrong('is not an image name');
}

const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
