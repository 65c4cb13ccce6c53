/**
 * Run by the installer as root once PostgreSQL is up: creates the schema, roles and keys; then, as
 * the hub's user, writes the settings. Prints the set-up code, if there is one.
 */
import { isIP } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { MAX_HOSTS, readConfig } from '../config.ts'
import { readJson, writeJson } from '../files.ts'
import { becomeServiceUser } from '../ops/service-user.ts'
import { prepare } from '../prepare.ts'

const {
  HUB_OWNER_URL: ownerUrl,
  HUB_HOSTS: hosts = '',
  HUB_LICENSE: license,
  HUB_PUBLIC_URL: publicUrl,
} = process.env
if (!ownerUrl) throw new Error('HUB_OWNER_URL is not set.')

const { paths } = await readConfig(process.env)
const database = { host: '127.0.0.1', port: 8771, name: 'hub' }
const handOver = () => becomeServiceUser({ paths })
const { setup_code } = await prepare(ownerUrl, paths, database, handOver)

const file = join(paths.config_dir, 'hub.json')
const known = z.looseObject({ hosts: z.array(z.string()).default([]) }).parse(await readJson(file))
const named = hosts.split(' ').filter((name) => name !== '')
const all = fitting([...new Set([...known.hosts, ...named])])
// Unsubscribe links need a public address; one that was entered by hand stays.
const address = known.public_url ?? (publicUrl || null)
if (all.join(' ') !== known.hosts.join(' ') || address !== (known.public_url ?? null)) {
  await writeJson(file, { ...known, hosts: all, public_url: address }, 0o640)
}

if (license) await writeJson(join(paths.config_dir, 'license.json'), { license })
console.log(setup_code ?? '')

/**
 * Each run adds the addresses that the machine has by then, of which IPv6 makes new ones every day. Of
 * too many, those that it no longer has go first.
 */
function fitting(names: string[]): string[] {
  const gone = names.filter((name) => isIP(name) && !named.includes(name))
  const kept = names.filter((name) => !gone.includes(name))
  const room = Math.max(MAX_HOSTS - kept.length, 0)
  const left = new Set([...kept, ...gone.slice(gone.length - Math.min(room, gone.length))])
  return names.filter((name) => left.has(name)).slice(0, MAX_HOSTS)
}
