/** `npm run hub`: the hub on this machine with the embedded database, kept running. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Paths, pathsIn } from '../hub/config.ts'
import { keyFiles } from '../hub/db/keys.ts'
import { prepare } from '../hub/prepare.ts'
import { VERSION } from '../shared/version.ts'
import { findPort } from './postgres/port.ts'
import { startPostgres } from './postgres/postgres.ts'
import { environment, readArguments, runMain, UsageError } from './start/arguments.ts'

const HELP = `npm run hub -- [options]

  --port PORT        the port (default 8770; 0 for any free port)
  --data-dir FOLDER  where all data is kept (default .data/hub)
  --help`
const SEE_HELP = 'See npm run hub -- --help'
const MAIN = resolve(import.meta.dirname, '../hub/main.ts')

/** The hub exits with this code to be started again, e.g. with another key. */
const RESTART = 75
const CRASH_PAUSE_MS = 2_000

async function main(): Promise<void> {
  const { values } = readArguments(
    {
      options: {
        port: { type: 'string', default: '8770' },
        'data-dir': { type: 'string', default: '.data/hub' },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  if (values.help) return console.log(HELP)
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
    throw new UsageError(`--port must be a port between 0 and 65535. ${SEE_HELP}`)
  }
  const port = await findPort({ host: '127.0.0.1', port: Number(values.port) })
  const paths = pathsIn(values['data-dir'])
  const postgres = await startPostgres({ dataDir: paths.data_dir, log: say })
  const ending = endOnSignal()
  try {
    const { setup_code } = await prepare(postgres.adminUrl, paths, {
      host: '127.0.0.1',
      port: postgres.port,
      name: 'hub',
    })
    welcome(paths, port, setup_code)
    await keepRunning(paths, port, ending)
  } finally {
    await postgres.stop()
  }
}

type Ending = { isEnding: boolean; child: ChildProcess | undefined }

/** On a signal the child is asked to end and is not started again. */
function endOnSignal(): Ending {
  const ending: Ending = { isEnding: false, child: undefined }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      ending.isEnding = true
      ending.child?.kill('SIGTERM')
    })
  }
  return ending
}

async function keepRunning(paths: Paths, port: number, ending: Ending): Promise<void> {
  const env = {
    ...environment(),
    HUB_CONFIG_DIR: paths.config_dir,
    HUB_DATA_DIR: paths.data_dir,
    HUB_PROMPTS_DIR: paths.prompts_dir,
    HUB_PORT: String(port),
  }
  while (!ending.isEnding) {
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    ending.child = child
    createInterface({ input: child.stdout }).on('line', (line) => print(line))
    const [code] = await once(child, 'close')
    if (ending.isEnding) return
    if (code === RESTART) {
      say('Restarting …')
      continue
    }
    say(`The hub exited with code ${code} and is being restarted. The lines above say why.`)
    await new Promise((resolve) => setTimeout(resolve, CRASH_PAUSE_MS))
  }
}

function welcome(paths: Paths, port: number, setup_code: string | null): void {
  const { service } = keyFiles(paths)
  say(`Watchpost Hub ${VERSION}`)
  say(`  Open          http://localhost:${port}/hub/`)
  if (setup_code) say(`  Set-up code   ${setup_code} (valid once, to set the first password)`)
  say(`  Service key   in ${service}; writes need it: paste it into Settings > Service Key`)
  say(`  For scripts   the bearer token in ${join(paths.config_dir, 'hub.token')}`)
}

/** At a terminal only faults are shown; LOG=json shows all lines of the hub's log. */
function print(line: string): void {
  if (process.env.LOG === 'json') {
    say(line)
    return
  }
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    say(line)
    return
  }
  const { msg, status, error, method, path, request_id } = entry
  if (msg === 'request') {
    if (typeof status === 'number' && status >= 500) {
      say(`${method} ${path} answered ${status} (request ${request_id}; set LOG=json for details)`)
    }
    return
  }
  say(
    error === undefined
      ? String(msg)
      : `${msg}: ${typeof error === 'string' ? error : JSON.stringify(error)}`,
  )
}

function say(line: string): void {
  console.log(line)
}

await runMain(main)
