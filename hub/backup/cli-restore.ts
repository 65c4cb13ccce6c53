/** `watchpost-hub restore`. */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import type { Config } from '../config.ts'
import { readText } from '../files.ts'
import { becomeServiceUser, serviceUser } from '../ops/service-user.ts'
import type { Secret } from './archive.ts'
import { startRestore } from './backup.ts'
import { type Power, Powers, powersIn } from './config-files.ts'
import { backupFile } from './make.ts'
import { checkBackup, handOver, type Stage, stageArchive, toOurSchema } from './offline.ts'
import { requireTrust, warningOf } from './restore.ts'
import { isTrusted, TRUST } from './signing.ts'
import { readHead } from './unpack.ts'

export class UsageError extends Error {}

type Values = {
  check?: boolean | undefined
  yes?: boolean | undefined
  take?: string | undefined
  trust?: string | undefined
  'passphrase-file'?: string | undefined
  'identity-file'?: string | undefined
}

/**
 * restore tries a backup or brings it back. Root looks at it in a folder of its own, where alone an
 * older one can be brought to this schema; from the first write in the hub's folders on it is the
 * hub's user.
 */
export async function restore(
  config: Config,
  given: string | undefined,
  values: Values,
): Promise<number> {
  if (!given) throw new UsageError('Name the backup: a file, or a name of the list.')
  const ownerUrl = process.env.HUB_OWNER_URL
  if (values.check && !ownerUrl) {
    throw new UsageError(
      'HUB_OWNER_URL is not set: the check makes a scratch database, which only the owner of the cluster can. Call it as sudo watchpost-hub restore --check.',
    )
  }
  if (!values.check && !values.yes && !process.stdin.isTTY) {
    throw new UsageError('Nobody is here to ask: add --yes.')
  }
  const secret = await secretOf(values)
  const owner = (await serviceUser(config))?.uid
  const stage = await stageArchive(config, given, owner)
  try {
    if (values.check && ownerUrl) return await check(config, { stage, secret, ownerUrl })
    const { trust, powers } = await ask(config, { stage, secret, given, values })
    // Only the owner can make the scratch database that an older backup is upgraded in.
    const isMade = ownerUrl ? await toOurSchema(config, { stage, secret, ownerUrl }) : false
    // What was upgraded here nobody has signed any more; who made it was asked before.
    await bringBack(config, { stage, secret, powers, trust: isMade ? TRUST : trust })
    return say(
      `Restored ${given}. A hub that runs starts itself anew. Mail is paused: confirm in Settings > Mail.`,
    )
  } finally {
    // Gone already behind the hand-over, when we may be another user.
    await rm(stage.folder, { recursive: true, force: true }).catch(() => {})
  }
}

async function check(
  config: Config,
  given: { stage: Stage; secret: Secret; ownerUrl: string },
): Promise<number> {
  const { manifest, differing } = await checkBackup(config, given)
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  if (differing.length === 0) {
    return say(
      `ok: ${manifest.tables.length} tables with ${rows} rows and ${manifest.files.length} files, of ${manifest.created_at}, version ${manifest.version}.`,
    )
  }
  say(`These tables do not read back as they were saved: ${differing.join(', ')}.`)
  return 1
}

/** What a person has to say before anything is changed. */
async function ask(
  { paths }: Config,
  given: { stage: Stage; secret: Secret; given: string; values: Values },
): Promise<{ trust: string | undefined; powers: Power[] }> {
  const { stage, secret, values } = given
  const { origin, config } = await readHead({ paths, file: stage.file, secret })
  let { trust, take } = values
  if (origin.kind !== 'here' && !isTrusted(trust) && process.stdin.isTTY) {
    trust = await question(`${warningOf(origin).en}\n> `)
  }
  requireTrust(origin, trust)
  const found = await powersIn(paths, config)
  if (found.length > 0) {
    say(
      'These settings of the archive differ from those here, which stay unless --take names them:',
    )
    for (const { name, what } of found) say(`  ${name.padEnd(8)} ${what.en}`)
  }
  if (found.length > 0 && take === undefined && !values.yes) {
    take = await question('Take over (names with commas, or Enter for none): ')
  }
  const powers = Powers.safeParse((take ?? '').split(/[\s,]+/).filter((name) => name !== ''))
  if (!powers.success) throw new UsageError('--take names mail, models, backup or agents.')
  if (!values.yes) {
    const answer = await question(
      `This replaces all projects, leads and settings by ${given.given}. Type yes: `,
    )
    if (answer.toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
  }
  return { trust, powers: powers.data }
}

async function bringBack(
  config: Config,
  given: { stage: Stage; secret: Secret; trust: string | undefined; powers: Power[] },
): Promise<void> {
  const { stage, ...options } = given
  const { paths } = config
  const name = await handOver(config, stage, () => becomeServiceUser(config))
  let shown = ''
  try {
    const { done } = await startRestore(config, name, {
      ...options,
      progress: (part, step) => {
        if (step !== shown) say(`${String(Math.round(part * 100)).padStart(3)} %  ${step}`)
        shown = step
      },
    })
    await done
  } finally {
    await rm(backupFile(paths, name), { force: true })
  }
}

async function secretOf(values: Values): Promise<Secret> {
  const read = async (file: string | undefined) => {
    if (file === undefined) return undefined
    const text = await readText(file)
    if (text === undefined) throw new UsageError(`There is no file ${file}.`)
    return text.replace(/\r?\n$/, '')
  }
  const identity = await read(values['identity-file'])
  return {
    passphrase: await read(values['passphrase-file']),
    // A key file of age-keygen begins with comments.
    identity: identity?.split('\n').find((line) => line.startsWith('AGE-SECRET-KEY-')),
  }
}

async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const said = await lines.question(text)
  lines.close()
  return said.trim()
}

function say(text: string): number {
  console.log(text)
  return 0
}
