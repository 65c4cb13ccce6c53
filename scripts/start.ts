import { isAbsolute, relative } from 'node:path'
import { type Config, readConfig, urlHost } from '../functions/config.ts'
import { createLog } from '../functions/log.ts'
import { startService } from '../functions/service.ts'
import { SIGN_IN_PATH } from '../functions/sign-in/sign-in-page.ts'
import { generateSecret } from '../shared/signing.ts'
import { VERSION } from '../shared/version.ts'
import { keepAddress } from './operator/address.ts'
import { startOperator } from './operator/server.ts'
import { createOperatorLink } from './operator/sessions.ts'
import {
  asOperator,
  createAccount,
  createLink,
  hasAccounts,
  type MintedKey,
} from './postgres/accounts.ts'
import { createSecrets, type Logins, prepareLogins } from './postgres/logins.ts'
import { migrate, usesSupabaseAuth } from './postgres/migrate.ts'
import { userOperator } from './postgres/operator.ts'
import { findPort, portProblem } from './postgres/port.ts'
import { startPostgres } from './postgres/postgres.ts'
import { readSecrets, type Secrets } from './postgres/secrets.ts'
import { environment, readArguments, runMain, UsageError } from './start/arguments.ts'
import { createDemoZones } from './start/demo-zones.ts'
import { watchFeeds } from './start/feeds-check.ts'
import { prepareReplay } from './start/replay.ts'
import { welcome } from './start/welcome.ts'

const HELP = `npm start -- [options]

  --host HOST           the address to listen on (default 127.0.0.1, this machine only)
  --port PORT           the port (default 8787; 0 for any free port)
  --data-dir FOLDER     where all data is kept (default .data)
  --database-url URL    an administrator's login to your own PostgreSQL, version 17 or newer,
                        instead of the embedded one (or DATABASE_URL)
  --feeds NAMES         the feeds to poll, separated by commas (default all)
  --replay              replays recorded events and invented vessels instead; needs no network
  --help

All other settings are environment variables: see .env.example.`
const SEE_HELP = 'See npm start -- --help'
const ACCOUNT = { email: 'local@watchpost.localhost', plan: 'enterprise' } as const
const THIS_MACHINE = '127.0.0.1/32,::1/128,localhost'
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/**
 * npm and the terminal may both pass on the same Ctrl-C: only a later signal ends the process at
 * once.
 */
const PATIENCE_MS = 2_000

type Options = {
  host: string
  port: number
  data_dir: string
  database_url: string | undefined
  feeds: string | undefined
  is_replay: boolean
}
type Environment = Record<string, string | undefined>
type Close = () => Promise<void>

async function main(): Promise<void> {
  const env = environment()
  const options = readOptions(env)
  if (!options) return console.log(HELP)
  const closing: Close[] = []
  const starting = start(options, env, closing)
  stopOnSignal(starting, closing)
  try {
    await starting
  } catch (error) {
    await closeAll(closing)
    throw error
  }
}

function readOptions(env: Environment): Options | undefined {
  const { values } = readArguments(
    {
      options: {
        host: { type: 'string' },
        port: { type: 'string' },
        'data-dir': { type: 'string', default: '.data' },
        'database-url': { type: 'string' },
        feeds: { type: 'string' },
        replay: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  if (values.help) return undefined
  if (values.replay && values['database-url']) {
    throw new UsageError(
      `--replay cannot be combined with --database-url: it stores recorded events as if they were new, so it uses its own database. ${SEE_HELP}`,
    )
  }
  const port = values.port ?? env.PORT ?? '8787'
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a port between 0 and 65535. ${SEE_HELP}`)
  }
  return {
    host: values.host ?? env.HOST ?? '127.0.0.1',
    port: Number(port),
    data_dir: values['data-dir'],
    database_url:
      values['database-url'] ?? (values.replay ? undefined : env.DATABASE_URL || undefined),
    feeds: values.feeds,
    is_replay: values.replay,
  }
}

async function start(options: Options, env: Environment, closing: Close[]): Promise<void> {
  const began = performance.now()
  options.port = await findPort(options)
  const known = await readSecrets(options.data_dir)
  // Mistakes in the configuration are reported before anything is started.
  configure(options, env, { api: 'postgres://-', jobs: 'postgres://-' }, known ?? NO_SECRETS)

  say(`Watchpost ${VERSION}${options.is_replay ? ', REPLAY of recorded events' : ''}`)
  const adminUrl = options.database_url ?? (await startOwnPostgres(options.data_dir, closing))
  await migrate(adminUrl, { log: say })
  const secrets =
    known ??
    (await createSecrets(adminUrl, { data_dir: options.data_dir, seal_keys: env.SEAL_KEYS }))
  const logins = givenLogins(options, env) ?? (await prepareLogins(adminUrl, secrets))
  const config = configure(options, env, logins, secrets)
  if (options.is_replay) await addReplay(config, options, env)
  const watching = options.is_replay ? undefined : watchFeeds(config, closing)

  const log = createLog(config.log)
  const service = await startService(config, log).catch((error) => {
    throw portProblem(error, options)
  })
  closing.push(service.stop)
  const operator =
    config.operator &&
    (await startOperator(config.operator, { adminUrl, public_url: config.public_url, log }))
  if (operator) closing.push(operator.stop, await keepAddress(options.data_dir, operator.url))
  const has_people = config.auth !== undefined || (await usesSupabaseAuth(adminUrl))
  const minted = has_people ? undefined : await firstAccount(adminUrl)
  const zones = options.is_replay && minted ? await createZones(options, minted) : []
  say(`Ready after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  say(
    welcome({
      url: config.public_url,
      is_replay: options.is_replay,
      account: has_people ? undefined : ACCOUNT,
      minted,
      zones,
      console_link: has_people ? undefined : await consoleLink(adminUrl, config.public_url),
      is_issuer: config.auth === undefined,
      admin_options: adminOptions(options),
      signing_secret: generateSecret(),
      operator: operator && (await operatorLink(adminUrl, operator.url)),
    }),
  )
  if (config.log === 'json') {
    const feeds = config.feeds.map(({ source }) => source)
    log({ msg: `listening on ${config.public_url}`, feeds, replay: options.is_replay })
  }
  watching?.then(sayUnreachable, (error) =>
    log({ msg: 'watching the feeds', error: String(error) }),
  )
}

/** A sign-in link of the local account; undefined when nobody can sign in with it, which `admin account link` explains. */
async function consoleLink(adminUrl: string, public_url: string): Promise<string | undefined> {
  try {
    const { token_hash } = await asOperator(adminUrl, (client) => createLink(client, ACCOUNT))
    return `${public_url}${SIGN_IN_PATH}#${token_hash}`
  } catch {
    return undefined
  }
}

/** The operator page, with a link that opens it once. What is not shown to a person goes into logs, which get no link. */
async function operatorLink(adminUrl: string, url: string) {
  if (!process.stdout.isTTY) return { url, is_link: false }
  const who = userOperator()
  const { token } = await asOperator(adminUrl, (client) => createOperatorLink(client, who), who)
  return { url: `${url}/#${token}`, is_link: true }
}

async function addReplay(config: Config, options: Options, env: Environment): Promise<void> {
  const feeds = await prepareReplay(config.jobs_database_url, say)
  config.feeds = options.feeds ? [...config.feeds, ...feeds] : feeds
  if (!options.feeds) config.disabled_feeds = []
  if (!env.ALLOW_PRIVATE_TARGETS) say('Webhooks may target this machine, because this is a replay')
}

/** The service is asked where it listens: its public address may lead elsewhere. */
function createZones({ host, port }: Options, { api_key }: MintedKey): Promise<string[]> {
  return createDemoZones(`http://${urlHost(host)}:${port}`, api_key)
}

function sayUnreachable(problem: string | undefined): void {
  if (!problem) return
  say(`  No live feed can be reached (${problem}). Watchpost keeps trying.
  To see it work without a network, run npm run demo or npm start -- --replay
`)
}

const NO_SECRETS: Secrets = {
  api_password: '-',
  jobs_password: '-',
  seal_keys: Buffer.alloc(32).toString('base64'),
}

async function startOwnPostgres(dataDir: string, closing: Close[]): Promise<string> {
  const server = await startPostgres({ dataDir, log: say })
  closing.push(server.stop)
  say(`PostgreSQL ${server.version} is running, with its data in ${server.home}`)
  return server.adminUrl
}

function configure(options: Options, env: Environment, urls: Logins, secrets: Secrets): Config {
  return readConfig(
    {
      ...env,
      HOST: options.host,
      PORT: String(options.port),
      API_DATABASE_URL: urls.api,
      JOBS_DATABASE_URL: urls.jobs,
      SEAL_KEYS: env.SEAL_KEYS || secrets.seal_keys,
      PUBLIC_URL: env.PUBLIC_URL || `http://${urlHost(options.host)}:${options.port}`,
      FEEDS: options.feeds ?? env.FEEDS,
      LOG: env.LOG || (process.stdout.isTTY ? 'text' : 'json'),
      ...(options.is_replay && !env.ALLOW_PRIVATE_TARGETS
        ? { ALLOW_PRIVATE_TARGETS: THIS_MACHINE }
        : {}),
    },
    'serve',
  )
}

/** In a database of one's own, the two roles may log in by other addresses, such as a pooler's. */
function givenLogins(options: Options, env: Environment): Logins | undefined {
  const { API_DATABASE_URL: api, JOBS_DATABASE_URL: jobs } = env
  return options.database_url && api && jobs ? { api, jobs } : undefined
}

/** Creates the local account with its key if there is no account yet; the key is shown only now. */
async function firstAccount(adminUrl: string): Promise<MintedKey | undefined> {
  if (await asOperator(adminUrl, hasAccounts)) return undefined
  return asOperator(adminUrl, (client) =>
    createAccount(client, { ...ACCOUNT, scopes: ['read', 'write'], key_name: 'First start' }),
  )
}

function adminOptions({ database_url, data_dir }: Options): string {
  if (database_url) return ' --database-url …'
  const folder = isAbsolute(data_dir) ? data_dir : relative('.', data_dir)
  return folder === '.data' ? '' : ` --data-dir ${folder}`
}

/**
 * The first signal stops everything in order, even during the start; a later one ends the process.
 */
function stopOnSignal(starting: Promise<void>, closing: Close[]): void {
  let first: number | undefined
  const onSignal = async () => {
    if (first !== undefined) {
      if (performance.now() - first > PATIENCE_MS) process.exit(1)
      return
    }
    first = performance.now()
    say('Stopping …')
    await starting.catch(() => {})
    await closeAll(closing)
    say('Stopped')
    process.exit(0)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
}

async function closeAll(closing: Close[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) {
    await close().catch((error) => console.error(`While stopping: ${error}`))
  }
}

function say(line: string): void {
  console.log(line)
}

await runMain(main)
