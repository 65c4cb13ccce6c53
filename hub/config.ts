import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { readJson } from './files.ts'

/** Where everything is; installed these are three places, on a developer's machine one. */
export type Paths = {
  /** Settings, keys and the admin's password. */
  config_dir: string
  /** Projects, models, backups. */
  data_dir: string
  /** The user's own prompts, one <agent>.md each. */
  prompts_dir: string
}

/** hub.json, written by the installer and by hand. */
export const HubFile = z.strictObject({
  port: z.int().min(0).max(65_535).default(8770),
  /** By which names the hub may be called besides localhost. */
  hosts: z.array(z.string().min(1).max(253)).max(50).default([]),
  /** Where recipients of mail reach /api/cockpit/u/…; https. */
  public_url: z
    .url({ protocol: /^https$/ })
    .nullable()
    .default(null),
  database: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(1).max(65_535).default(8771),
      name: z.string().default('hub'),
    })
    .prefault({}),
})
export type HubFile = z.infer<typeof HubFile>

export type Config = HubFile & {
  paths: Paths
  /** The JWKS that licences are checked against; ships with the release. */
  license_keys: string
  /** How long a query may take that a model has written. */
  model_query_timeout_ms: number
}

const MODEL_QUERY_TIMEOUT_MS = 5000

const Environment = z.object({
  HUB_CONFIG_DIR: z.string().min(1).optional(),
  HUB_DATA_DIR: z.string().min(1).optional(),
  HUB_PROMPTS_DIR: z.string().min(1).optional(),
  HUB_LICENSE_KEYS: z.string().min(1).optional(),
  HUB_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
})

/** The places of an installed hub. */
const INSTALLED: Paths = {
  config_dir: '/etc/watchpost',
  data_dir: '/var/lib/watchpost',
  prompts_dir: '/opt/ceo-runner/prompts',
}

/** All places below one folder, as `npm run hub` has them. */
export function pathsIn(folder: string): Paths {
  const data_dir = resolve(folder.replace(/^~(?=\/|$)/, homedir()))
  return { config_dir: data_dir, data_dir, prompts_dir: join(data_dir, 'prompts') }
}

/** readConfig reads the environment and hub.json; a mistake is an Error that names the setting. */
export async function readConfig(environment: Record<string, string | undefined>): Promise<Config> {
  const read = Environment.safeParse(environment)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`${issue?.path.join('.')} is not usable: ${issue?.message}`)
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
    throw new Error(`${file}: ${issue?.path.join('.')} is not usable: ${issue?.message}`)
  }
  const license_keys =
    env.HUB_LICENSE_KEYS ?? join(import.meta.dirname, 'license/license-keys.json')
  return {
    ...hub.data,
    port: env.HUB_PORT ?? hub.data.port,
    paths,
    license_keys,
    model_query_timeout_ms: MODEL_QUERY_TIMEOUT_MS,
  }
}
