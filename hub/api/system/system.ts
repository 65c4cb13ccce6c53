import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { z } from 'zod'
import { invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { VERSION } from '../../../shared/version.ts'
import { backupTimes } from '../../backup/backup.ts'
import { Destination, Port, readBackupSettings } from '../../backup/settings.ts'
import { HostKey, hostKeysOf, makeSshKey, publicKeyOf } from '../../backup/ssh.ts'
import { answer, type Ctx, type Env, problems } from '../../http/http.ts'
import { isOurName, nameIn } from '../../http/names.ts'
import { bilingual, type Localizable } from '../../i18n/words.ts'
import { readLicense, Tier } from '../../license/license.ts'
import { examine } from '../../ops/doctor.ts'
import { Alert, readAlerts } from '../../ops/health.ts'
import { settingsText } from '../../ops/settings.text.ts'
import { changeSystem, readSystem, SystemChange } from '../../ops/system-settings.ts'

const say = bilingual(settingsText)

const Info = z
  .object({
    version: z.string(),
    uptime_seconds: z.int(),
    cpu: z.object({ cores: z.int(), load_1m: z.number() }),
    memory: z.object({ total_bytes: z.int(), free_bytes: z.int(), hub_bytes: z.int() }),
    disk: z.object({ total_bytes: z.int(), free_bytes: z.int() }).meta({
      description: 'The folder of projects, models and backups.',
    }),
    model: z.object({
      name: z.string().nullable(),
      state: z.enum(['none', 'starting', 'ready', 'crashed', 'unreachable']),
      detail: z.string().nullable(),
      memory_bytes: z.int().nullable(),
    }),
    database: z.object({ key_role: z.enum(['hub_ro', 'hub_rw']) }),
    license: z.object({
      tier: Tier,
      max_projects: z.int().nullable(),
      valid_until: z.string().nullable(),
      status: z.string(),
    }),
    backups: z.object({ last_at: z.string().nullable(), next_at: z.string() }),
    alerts: z.array(Alert).meta({ description: 'Current alerts first, then recent ones.' }),
  })
  .meta({ id: 'SystemInfo' })

const Shown = z
  .object({
    language: z.enum(['en', 'tr']),
    public_url: z.string().nullable(),
    hosts: z.array(z.string()),
    backup: z.object({
      hour: z.int(),
      keep_daily: z.int(),
      encryption: z.object({
        kind: z.enum(['none', 'passphrase', 'recipient']),
        has_passphrase: z.boolean(),
        recipient: z.string().nullable(),
      }),
      target: z.looseObject({
        kind: z.enum(['none', 's3', 'rsync']),
        has_secret: z.boolean(),
      }),
      public_key: z.string().nullable().meta({
        description: 'The key with which the hub signs in to an SSH server; null: none is made.',
      }),
    }),
  })
  .meta({ id: 'SystemSettings' })
const System = z.object({ system: Shown })

/** The machine and the hub on it. */
export const system = resource<Env>()

system.openapi(
  createRoute({
    method: 'get',
    path: '/system_info',
    operationId: 'systemInfo',
    tags: ['System'],
    summary: 'The machine, the model, the license, the backups and the alerts',
    responses: { 200: jsonResponse(Info, 'As of now.'), ...problems() },
  }),
  async (c) => {
    const { config, key_role, model } = c.get('deps')
    const { paths } = config
    const [disk, now, license, backups, alerts] = await Promise.all([
      statfs(paths.data_dir),
      model.state(),
      readLicense(config),
      backupTimes(paths),
      readAlerts(paths),
    ])
    const { tier, max_projects, valid_until, status } = license
    const { name, state, detail, memory_bytes } = now
    const info: Localizable<z.input<typeof Info>> = {
      version: VERSION,
      uptime_seconds: Math.floor(process.uptime()),
      cpu: { cores: availableParallelism(), load_1m: loadavg()[0] ?? 0 },
      memory: {
        total_bytes: totalmem(),
        free_bytes: freemem(),
        hub_bytes: process.memoryUsage.rss(),
      },
      disk: { total_bytes: disk.blocks * disk.bsize, free_bytes: disk.bavail * disk.bsize },
      model: { name, state, detail, memory_bytes },
      database: { key_role },
      license: { tier, max_projects, valid_until, status },
      backups,
      alerts,
    }
    return answer(c, Info, info, 200)
  },
)

const Findings = z.object({
  findings: z.array(
    z.object({ is: z.enum(['ok', 'warn', 'fail']), what: z.string(), say: z.string() }),
  ),
})

system.openapi(
  createRoute({
    method: 'get',
    path: '/doctor',
    operationId: 'doctor',
    tags: ['System'],
    summary: 'Run the checks of `watchpost-hub doctor`',
    responses: { 200: jsonResponse(Findings, 'As of now.'), ...problems() },
  }),
  async (c) => answer(c, Findings, { findings: await examine(c.get('deps').config) }, 200),
)

/** Settings > System. */
export const systemSettings = resource<Env>()

systemSettings.openapi(
  createRoute({
    method: 'get',
    path: '/system',
    operationId: 'getSystem',
    tags: ['Settings'],
    summary: 'The system settings: language, host names, backups',
    description: 'Secrets are not returned, only whether one is stored.',
    responses: { 200: jsonResponse(System, 'The settings.'), ...problems() },
  }),
  async (c) => answer(c, System, { system: await shown(c) }, 200),
)

systemSettings.openapi(
  createRoute({
    method: 'put',
    path: '/system',
    operationId: 'setSystem',
    tags: ['Settings'],
    summary: 'Change the system settings',
    description: 'Absent fields and secrets are unchanged.',
    request: { body: jsonBody(SystemChange) },
    responses: { 200: jsonResponse(System, 'Changed; in use at once.'), ...problems(422) },
  }),
  async (c) => {
    const { config } = c.get('deps')
    const change = c.req.valid('json')
    // Whoever saves this would be locked out of the page, and could not take it back there.
    const name = nameIn(c.req.header('host') ?? new URL(c.req.url).host)
    if (!isOurName(name, { ...config, ...change })) {
      const field = change.hosts === undefined ? 'public_url' : 'hosts'
      throw invalid([{ path: field, code: 'own_name', message: say.own_name(name) }])
    }
    await changeSystem(config, change)
    return answer(c, System, { system: await shown(c) }, 200)
  },
)

const SshServer = z.strictObject({ destination: Destination, port: Port.default(22) })
const HostKeys = z.object({ public_key: z.string(), host_keys: z.array(HostKey) })

systemSettings.openapi(
  createRoute({
    method: 'post',
    path: '/backup_server',
    operationId: 'readBackupServer',
    tags: ['Settings'],
    summary: 'The keys of an SSH server for backups, and the key the hub signs in with',
    description:
      'Asks the server at the destination, and makes the hub’s own key if there is none. Compare the fingerprint with the one that the server itself shows before you save the key.',
    request: { body: jsonBody(SshServer) },
    responses: { 200: jsonResponse(HostKeys, 'The keys.'), ...problems(422) },
  }),
  async (c) => {
    const { destination, port } = c.req.valid('json')
    const host_keys = await hostKeysOf(destination, port)
    const public_key = await makeSshKey(c.get('deps').config.paths)
    return answer(c, HostKeys, { public_key, host_keys }, 200)
  },
)

async function shown(c: Ctx): Promise<z.input<typeof Shown>> {
  const { config } = c.get('deps')
  const { language } = await readSystem(config.paths)
  const { hour, keep_daily, encryption, target } = await readBackupSettings(config.paths)
  const { secret_access_key, ...rest } = { secret_access_key: undefined, ...target }
  return {
    language,
    public_url: config.public_url,
    hosts: config.hosts,
    backup: {
      hour,
      keep_daily,
      encryption: {
        kind: encryption.kind,
        has_passphrase: encryption.kind === 'passphrase',
        recipient: encryption.kind === 'recipient' ? encryption.recipient : null,
      },
      target: { ...rest, has_secret: secret_access_key !== undefined },
      public_key: await publicKeyOf(config.paths),
    },
  }
}
