import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { readJson } from './files.ts'

/** The folders of a hub: three when installed, one on a developer's machine. */
export type Paths = {
  /** Settings, keys and the admin's password. */
  config_dir: string
  /** Projects, models, backups and the database. */
  data_dir: string
  /** The user's own prompts, one <agent>.md each. */
  prompts_dir: string
}

const portError = (min: number) => `must be a port between ${min} and 65535`
const port = (min: number) =>
  z.int(portError(min)).min(min, portError(min)).max(65_535, portError(min))

const hosts = z.array(z.string().min(1).max(253))
/** The most host names that Settings take and the installer leaves. */
export const MAX_HOSTS = 50
export const Hosts = hosts.max(MAX_HOSTS)

/** hub.json, which the installer writes and the admin may edit. */
export const HubFile = z.strictObject({
  port: port(0).default(8770),
  /** The host names the hub accepts besides localhost. */
  hosts: hosts.max(200).default([]),
  /** The https address where recipients of mail reach /api/cockpit/u/…. */
  public_url: z
    .url({ protocol: /^https$/ })
    .nullable()
    .default(null),
  database: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: port(1).default(8771),
      name: z.string().default('hub'),
    })
    .prefault({}),
})
export type HubFile = z.infer<typeof HubFile>

export type Config = HubFile & {
  paths: Paths
  /** The JWKS that licenses are checked against; ships with the release. */
  license_keys: string
  /** How long a query that a model has written may run. */
  model_query_timeout_ms: number
  /** The largest backup that may be uploaded. */
  max_archive_bytes: number
}

const MODEL_QUERY_TIMEOUT_MS = 5000
const MAX_ARCHIVE_BYTES = 20 * 1024 ** 3

const Environment = z.object({
  HUB_CONFIG_DIR: z.string().min(1).optional(),
  HUB_DATA_DIR: z.string().min(1).optional(),
  HUB_PROMPTS_DIR: z.string().min(1).optional(),
  HUB_LICENSE_KEYS: z.string().min(1).optional(),
  HUB_PORT: z.coerce.number(portError(0)).pipe(port(0)).optional(),
})

/** The folders of an installed hub. */
const INSTALLED: Paths = {
  config_dir: '/etc/watchpost',
  data_dir: '/var/lib/watchpost',
  prompts_dir: '/opt/ceo-runner/prompts',
}

/** All folders within one, as `npm run hub` uses them; a leading ~ is the home folder. */
export function pathsIn(folder: string): Paths {
  const data_dir = resolve(folder.replace(/^~(?=\/|$)/, homedir()))
  return { config_dir: data_dir, data_dir, prompts_dir: join(data_dir, 'prompts') }
}

/**
 * readConfig reads the environment and hub.json; throws an Error that names the first wrong
 * setting.
 */
export async function readConfig(environment: Record<string, string | undefined>): Promise<Config> {
  const read = Environment.safeParse(environment)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`)
  }
  const env = read.data
  const paths = {
    config_dir: env.HUB_CONFIG_DIR ?? INSTALLED.config_dir,
    data_dir: env.HUB_DATA_DIR ?? INSTALLED.data_dir,
    prompts_dir: env.HUB_PROMPTS_DIR ?? INSTALLED.prompts_dir,
  }
  const file = join(paths.config_dir, 'hub.json')
  const hub = HubFile.safeParse((await readJson(file)) ?? {})
  if (!hub.success) {
    const [issue] = hub.error.issues
    throw new Error([file, ...(issue?.path ?? []), issue?.message].join(': '))
  }
  const license_keys =
    env.HUB_LICENSE_KEYS ?? join(import.meta.dirname, 'license/license-keys.json')
  return {
    ...hub.data,
    port: env.HUB_PORT ?? hub.data.port,
    paths,
    license_keys,
    model_query_timeout_ms: MODEL_QUERY_TIMEOUT_MS,
    max_archive_bytes: MAX_ARCHIVE_BYTES,
  }
}
