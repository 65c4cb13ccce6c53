import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { z } from 'zod'
import { findAddress } from './operator/address.ts'
import { createOperatorLink } from './operator/sessions.ts'
import {
  addMember,
  asOperator,
  changePlan,
  createAccount,
  createOrganisation,
  deleteAccount,
  mintKey,
  ROLES,
  removeMember,
  revokeKey,
} from './postgres/accounts.ts'
import { discard, listDeadJobs, redrive } from './postgres/dead-jobs.ts'
import {
  readEvidence,
  readKeys,
  rotateEvidenceKey,
  selectKeys,
  verifyEvidence,
  withdrawEvidenceKey,
} from './postgres/evidence.ts'
import { pauseFeed, resumeFeed } from './postgres/feeds.ts'
import { findDatabase, folderOf, type Place } from './postgres/find-database.ts'
import { listAccounts, listKeys, listMembers, listOrganisations } from './postgres/lists.ts'
import { MAX_NAME, userOperator } from './postgres/operator.ts'
import { createSignInLink } from './postgres/sign-in-link.ts'
import { environment, readArguments, runMain, UsageError } from './start/arguments.ts'
import {
  accountOptions,
  Email,
  Expires,
  Id,
  KeyId,
  Limit,
  Name,
  OperatorUrl,
  Owner,
  Past,
  PlanOption,
  PublicUrl,
  Reason,
  requireOneAccount,
  Scopes,
  usualOperatorUrl,
} from './start/options.ts'
import { feedsStatus, queueStatus } from './start/status.ts'

const HELP = `npm run admin -- <command> [options]

  account list                                            lists the accounts
  account create --email E --plan free|pro|enterprise     creates an account and its first key
  account plan   --email E --plan free|pro|enterprise     changes its plan
  account link   --email E [--public-url URL]             creates a one-time sign-in link (not with Supabase Auth)
  account delete --email E --confirm E                    deletes an account for good
  key list       [--email E]                              lists the keys, without the keys themselves
  key mint       --email E --scopes read[,write][,ingest] [--expires ISO] [--name N]
  key revoke     --key ID
  org list                                                lists the organisations
  org members    --org ID                                 lists the members of one, and its invites
  org create     --name N --owner E                       creates an organisation; E may be an id
  org add        --org ID --email E --role member|admin   adds an account to it
  org remove     --org ID --email E                       removes a member, or voids an invite
  feeds status                                            shows the state of each source
  feeds pause    --source S --reason TEXT                 stops polling a feed; everybody reads the reason
  feeds resume   --source S                               polls it again
  feeds try SOURCE FILE                                   normalises a recorded answer of it, without a network
  queue status                                            counts the jobs and deliveries that wait, run and have failed
  queue dead     [--limit N] [--queue Q]                  lists the jobs that have failed for good, the newest first
  queue redrive  [--limit N] [--queue Q] [--job ID]       puts failed jobs back, the oldest first (at most 10,000)
  queue discard  --job ID --reason TEXT                   deletes a failed job; its owner's log says why
  operator link  [--name N] [--url URL]                   creates a one-time link to the operator page of npm start
  evidence verify FILE [--keys FILE]                      says whether a record is as this service signed it
  evidence rotate                                         retires the key that signs records; another one follows
  evidence withdraw --key ID --from ISO --reason TEXT     says that others may have signed with a key since then
  backup FILE                                             writes all data into a new file (or into a new file in a folder)
  restore FILE   [--check] [--lost-key] [--trust TEXT]    restores it into an empty database; --check only reads the file

  --user ID             instead of --email: an account by its id (two accounts may share an address)
  --json                prints one JSON object instead of text
  --data-dir FOLDER     the data folder of npm start (default .data; the demo's is .data/demo)
  --database-url URL    an administrator's login to your own PostgreSQL (or DATABASE_URL)

It works while the service runs, and while it does not.`
const SEE_HELP = 'See npm run admin -- --help'

const OPTIONS = {
  email: { type: 'string' },
  user: { type: 'string' },
  plan: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  from: { type: 'string' },
  name: { type: 'string' },
  key: { type: 'string' },
  owner: { type: 'string' },
  org: { type: 'string' },
  role: { type: 'string' },
  confirm: { type: 'string' },
  limit: { type: 'string' },
  queue: { type: 'string' },
  job: { type: 'string' },
  reason: { type: 'string' },
  source: { type: 'string' },
  'public-url': { type: 'string' },
  url: { type: 'string' },
  keys: { type: 'string' },
  check: { type: 'boolean' },
  'lost-key': { type: 'boolean' },
  trust: { type: 'string' },
} as const
const COMMON_OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  'data-dir': { type: 'string' },
  'database-url': { type: 'string' },
} as const

type Result = Record<string, unknown>
type Verb = (given: Result, place: Place) => (client: pg.Client) => Promise<Result>

const VERBS: Record<string, Verb> = {
  'account list': verb(z.strictObject({}), listAccounts),
  'account create': verb(z.strictObject({ email: Email, plan: PlanOption }), (client, options) =>
    createAccount(client, { ...options, scopes: ['read', 'write'], key_name: 'First key' }),
  ),
  'account plan': verb(
    z.strictObject({ ...accountOptions, plan: PlanOption }).superRefine(requireOneAccount),
    changePlan,
  ),
  'account link': verb(
    z.strictObject({ ...accountOptions, 'public-url': PublicUrl }).superRefine(requireOneAccount),
    (client, { 'public-url': public_url, ...who }) =>
      createSignInLink(client, { ...who, public_url }),
  ),
  'account delete': verb(
    z
      .strictObject({ ...accountOptions, confirm: z.string().optional() })
      .superRefine(requireOneAccount),
    deleteAccount,
  ),
  'key list': verb(z.strictObject(accountOptions), listKeys),
  'key mint': verb(
    z
      .strictObject({
        ...accountOptions,
        scopes: Scopes,
        expires: Expires.optional(),
        name: Name.default('Created by an operator'),
      })
      .superRefine(requireOneAccount),
    (client, { expires, ...key }) => mintKey(client, { ...key, expires_at: expires ?? null }),
  ),
  'key revoke': verb(z.strictObject({ key: Id }), (client, { key }) => revokeKey(client, key)),
  'org list': verb(z.strictObject({}), listOrganisations),
  'org members': verb(z.strictObject({ org: Id }), (client, { org }) =>
    listMembers(client, { org_id: org }),
  ),
  'org remove': verb(
    z.strictObject({ ...accountOptions, org: Id }).superRefine(requireOneAccount),
    (client, { org, ...member }) => removeMember(client, { ...member, org_id: org }),
  ),
  'org create': verb(z.strictObject({ name: Name, owner: Owner }), createOrganisation),
  'org add': verb(
    z
      .strictObject({
        ...accountOptions,
        org: Id,
        role: z.enum(ROLES, { error: `is one of ${ROLES.join(', ')}` }),
      })
      .superRefine(requireOneAccount),
    (client, { org, ...member }) => addMember(client, { ...member, org_id: org }),
  ),
  'feeds status': verb(z.strictObject({}), feedsStatus),
  'feeds pause': verb(z.strictObject({ source: Name, reason: Reason }), pauseFeed),
  'feeds resume': verb(z.strictObject({ source: Name }), resumeFeed),
  'queue status': verb(z.strictObject({}), queueStatus),
  'evidence rotate': verb(z.strictObject({}), rotateEvidenceKey),
  'evidence withdraw': verb(
    z.strictObject({ key: KeyId, from: Past, reason: Reason }),
    (client, { key: kid, ...why }) => withdrawEvidenceKey(client, { kid, ...why }),
  ),
  'queue dead': verb(
    z.strictObject({ limit: Limit, queue: Name.optional() }),
    async (client, given) => ({
      dead_jobs: (await listDeadJobs(client, given)).map(({ cursor_at: _, ...job }) => job),
    }),
  ),
  'queue redrive': verb(
    z.strictObject({ limit: Limit, queue: Name.optional(), job: Id.optional() }),
    redrive,
  ),
  'queue discard': verb(z.strictObject({ job: Id, reason: Reason }), discard),
  'operator link': verb(
    z.strictObject({
      name: Name.max(MAX_NAME).default(() => userOperator().name),
      url: OperatorUrl.optional(),
    }),
    async (client, { name, url }, place) => {
      const { token, ...link } = await createOperatorLink(client, { name })
      const page = url ?? (await findAddress(folderOf(place))) ?? usualOperatorUrl()
      return { url: `${page}/#${token}`, ...link }
    },
  ),
}

/**
 * Commands on a file: it is checked before a database is looked for. What only they and `feeds try` need is loaded by
 * them, because it takes longer than the other commands.
 */
const FILE_VERBS: Record<string, (given: Result, file: string, place: Place) => Promise<Result>> = {
  backup: async (given, file, place) => {
    options(z.strictObject({}), given)
    const { backup } = await import('./backup/cli.ts')
    return backup(file, place)
  },
  restore: async (given, file, place) => {
    const flag = z.boolean().default(false)
    const schema = z.strictObject({ check: flag, 'lost-key': flag, trust: z.string().optional() })
    const read = options(schema, given)
    const { restore } = await import('./backup/cli.ts')
    return restore(file, place, read)
  },
}

/** Normalises a recorded answer, as the first of its feed, with the settings of the environment. */
async function tryFeed(given: Result, [source, file, ...more]: string[]): Promise<Result> {
  options(z.strictObject({}), given)
  if (!source || !file || more.length > 0) {
    throw new UsageError(`Name a source and a file: feeds try SOURCE FILE. ${SEE_HELP}`)
  }
  const { KNOWN_FEEDS, settingsOf } = await import('../functions/feeds/feeds.ts')
  const { decodeText } = await import('../functions/feeds/fetch.ts')
  const feed = KNOWN_FEEDS.find((known) => known.source === source)
  if (!feed?.normalise) {
    const names = KNOWN_FEEDS.filter(({ normalise }) => normalise).map((known) => known.source)
    throw new UsageError(`There is no feed "${source}" to try. There are: ${names.join(', ')}.`)
  }
  const text = decodeText(await readFile(file))
  const settings = settingsOf(feed, environment())
  return { ...(await feed.normalise(text, { now: new Date(), settings })) }
}

/** Needs no database where the keys are given. */
async function verifyFile(given: Result, [file, ...more]: string[], place: Place): Promise<Result> {
  const { keys } = options(z.strictObject({ keys: z.string().optional() }), given)
  if (!file || more.length > 0)
    throw new UsageError(`Name one file: evidence verify FILE. ${SEE_HELP}`)
  const bytes = await readEvidence(file)
  if (keys !== undefined) return verifyEvidence(bytes, await readKeys(keys))
  const database = await findDatabase(place)
  try {
    return await verifyEvidence(bytes, await asOperator(database.adminUrl, selectKeys))
  } finally {
    await database.close()
  }
}

/** Options are checked before the database is used. */
function verb<S extends z.ZodType>(
  schema: S,
  run: (client: pg.Client, options: z.output<S>, place: Place) => Promise<Result>,
): Verb {
  return (given, place) => {
    const read = options(schema, given)
    return (client) => run(client, read, place)
  }
}

function options<S extends z.ZodType>(schema: S, given: Result): z.output<S> {
  const read = schema.safeParse(given)
  if (read.success) return read.data
  throw new UsageError(`${read.error.issues.map(mistake).join(', ')}. ${SEE_HELP}`)
}

function mistake(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return `${issue.keys.map((key) => `--${key}`).join(', ')} is not an option of this command`
  }
  const option = `--${String(issue.path[0])}`
  return issue.input === undefined && issue.code === 'invalid_type'
    ? `${option} is required`
    : `${option} ${issue.message}`
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments(
    { options: { ...OPTIONS, ...COMMON_OPTIONS }, allowPositionals: true },
    SEE_HELP,
  )
  const { json, help, 'data-dir': dataDir, 'database-url': databaseUrl, ...given } = values
  if (help) return console.log(HELP)
  const result = await runCommand(positionals, { ...given }, { dataDir, databaseUrl })
  console.log(json ? JSON.stringify(result) : readable(result))
}

async function runCommand(words: string[], given: Result, place: Place): Promise<Result> {
  const [first = '', file, ...more] = words
  if (Object.hasOwn(FILE_VERBS, first)) {
    if (!file || more.length > 0) throw new UsageError(`Name one file: ${first} FILE. ${SEE_HELP}`)
    return (await FILE_VERBS[first]?.(given, file, place)) ?? {}
  }
  if (first === 'feeds' && file === 'try') return tryFeed(given, more)
  if (first === 'evidence' && file === 'verify') return verifyFile(given, more, place)
  const name = words.join(' ')
  const found = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (!found) throw new UsageError(name ? `There is no command "${name}". ${SEE_HELP}` : HELP)
  const work = found(given, place)
  const database = await findDatabase(place)
  try {
    return await asOperator(database.adminUrl, work, userOperator())
  } finally {
    await database.close()
  }
}

/** Lines `name: value`; a list becomes a table. */
function readable(result: Result): string {
  const width = Math.max(...Object.keys(result).map((name) => name.length))
  return Object.entries(result)
    .map(([name, value]) =>
      Array.isArray(value) ? list(name, value) : `${name.padEnd(width)}  ${cell(value)}`,
    )
    .join('\n')
}

function list(name: string, values: unknown[]): string {
  const texts = values.filter((value) => typeof value === 'string')
  // safe: every other list holds rows
  if (texts.length === 0) return table(name, values as Result[])
  return [`${name}:`, ...texts.map((text) => `  ${text}`)].join('\n')
}

function table(name: string, rows: Result[]): string {
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return `${name}: none`
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => (line[index] ?? '').length)),
  )
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cell(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (value === null || value === undefined) return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

await runMain(main)
