/** `watchpost-hub restore`: checks a backup or restores it. */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import type { Config } from '../config.ts'
import { readText } from '../files.ts'
import { becomeServiceUser, serviceUser } from '../ops/service-user.ts'
import type { Secret } from './archive.ts'
import { startRestore } from './backup.ts'
import { type Power, Powers, powersIn } from './config-files.ts'
import { backupFile } from './make.ts'
import { checkBackup, handOver, type Stage, stageArchive, upgradeArchive } from './offline.ts'
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
 * restore checks a backup or restores it. Root unpacks it in a folder that only root can change,
 * and upgrades an older one there. Before the first write to the hub's folders it becomes the hub's
 * user. Throws a UsageError for wrong options, an Error with one sentence for an archive that is
 * refused.
 */
export async function restore(
  config: Config,
  given: string | undefined,
  values: Values,
): Promise<number> {
  if (!given)
    throw new UsageError('Name the backup: a file, or the name of a backup on this machine.')
  const ownerUrl = process.env.HUB_OWNER_URL
  if (values.check && !ownerUrl) {
    throw new UsageError(
      'HUB_OWNER_URL is not set. The check creates a scratch database, which only the database owner can do. Run: sudo watchpost-hub restore --check',
    )
  }
  if (!values.check && !values.yes && !process.stdin.isTTY) {
    throw new UsageError('Standard input is not a terminal, so nobody can confirm. Add --yes.')
  }
  const secret = await secretOf(values)
  const owner = (await serviceUser(config))?.uid
  const stage = await stageArchive(config, given, owner)
  try {
    if (values.check && ownerUrl) return await check(config, { stage, secret, ownerUrl })
    const { trust, powers } = await ask(config, { stage, secret, given, values })
    // Only the database owner can create the scratch database in which an older backup is upgraded.
    const isMade = ownerUrl ? await upgradeArchive(config, { stage, secret, ownerUrl }) : false
    // An upgraded archive has no signature any more; trust was settled for the original above.
    await restoreStaged(config, { stage, secret, powers, trust: isMade ? TRUST : trust })
    return say(
      `Restored ${given}. A running hub restarts itself. Mail is paused: resume it in Settings > Mail.`,
    )
  } finally {
    // After the hand-over the folder is gone, and we may be another user.
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
      `ok: ${manifest.tables.length} tables with ${rows} rows, ${manifest.files.length} files, made at ${manifest.created_at} by version ${manifest.version}.`,
    )
  }
  say(`After loading, these tables differ from the backup: ${differing.join(', ')}.`)
  return 1
}

/**
 * Asks on the terminal for what the options left open: trust, settings to restore, confirmation.
 */
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
    say('These settings differ from the current ones. They are restored only if --take names them:')
    for (const { name, what } of found) say(`  ${name.padEnd(8)} ${what.en}`)
  }
  if (found.length > 0 && take === undefined && !values.yes) {
    take = await question('Settings to restore (names separated by commas, or Enter for none): ')
  }
  const powers = Powers.safeParse((take ?? '').split(/[\s,]+/).filter((name) => name !== ''))
  if (!powers.success) throw new UsageError('--take must name mail, models, backup or agents.')
  if (!values.yes) {
    const answer = await question(
      `This replaces all projects, leads and settings with those of ${given.given}. Type yes to continue: `,
    )
    if (answer.toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
  }
  return { trust, powers: powers.data }
}

async function restoreStaged(
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
    if (text === undefined) throw new UsageError(`The file ${file} does not exist.`)
    return text.replace(/\r?\n$/, '')
  }
  const identity = await read(values['identity-file'])
  return {
    passphrase: await read(values['passphrase-file']),
    // A key file written by age-keygen starts with comments.
    identity: identity?.split('\n').find((line) => line.startsWith('AGE-SECRET-KEY-')),
  }
}

async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(text)
  lines.close()
  return answer.trim()
}

function say(text: string): number {
  console.log(text)
  return 0
}
