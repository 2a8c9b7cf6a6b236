import { readFileSync } from 'node:fs';

/** The version of the SDK that is installed here. */
export function sdkVersion() {
  const manifest = new URL('node_modules/@a2a-js/sdk/package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}
