import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { LICENSE } from '../../../hub/license/license.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { type HubOptions, startHub, type TestHub } from './hub.ts'

/** licenseHub gives a hub an Enterprise license; one `until` a moment of the past has expired. */
export async function licenseHub(hub: TestHub, until: Date | string = '1d'): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const license_keys = join(hub.paths.config_dir, 'test-keys.json')
  const key = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'Ed25519' }
  await writeFile(license_keys, JSON.stringify({ keys: [key] }))
  hub.config.license_keys = license_keys
  const license = await new SignJWT({ tier: 'enterprise', max_projects: null, customer: 'Test' })
    .setProtectedHeader({ alg: 'Ed25519', kid: 'test' })
    .setExpirationTime(until)
    .sign(privateKey)
  await writeSetting(hub.paths, LICENSE, { license })
}

/** startLicensedHub makes a hub with an Enterprise license and the projects named. */
export async function startLicensedHub(
  slugs: string[],
  options: HubOptions = {},
): Promise<TestHub & { ids: Record<string, string> }> {
  const hub = await startHub(options)
  await licenseHub(hub)
  const ids: Record<string, string> = {}
  for (const slug of slugs) {
    const [row] = await hub.query<{ id: string }>(
      'insert into hub.projects (slug, name) values ($1, $2) returning id',
      [slug, slug.charAt(0).toUpperCase() + slug.slice(1)],
    )
    ids[slug] = row?.id ?? ''
  }
  return { ...hub, ids }
}
