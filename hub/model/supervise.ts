import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { doublingDelay } from '../../shared/backoff.ts'
import type { Paths } from '../config.ts'
import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { modelText } from './model.text.ts'

const say = bilingual(modelText)

const SERVE = join(import.meta.dirname, 'serve.ts')
const MAX_PAUSE_MS = 60_000
/** How long it may take to end by itself before it is killed. */
const GRACE_MS = 5_000

export type SupervisorOptions = {
  paths: Paths
  socket: string
  log: Log
  /** The pause before the first restart; it doubles with every crash until the model is ready. */
  pause_ms?: number
  /** Additional arguments of the model process. */
  args?: string[]
}

type Supervised = { state: 'none' | 'starting' | 'ready' | 'crashed'; detail: Words | null }

/**
 * createSupervisor runs the model process as a child. It restarts it when it ends by itself, and
 * stops it when this process ends.
 */
export function createSupervisor(options: SupervisorOptions) {
  const { paths, socket, log, pause_ms = 500, args = [] } = options
  let file: string | undefined
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let crashes = 0
  let supervised: Supervised = { state: 'none', detail: null }

  function start(): void {
    if (file === undefined) return
    supervised = { state: 'starting', detail: supervised.detail }
    const started = fork(SERVE, ['--socket', socket, '--file', file, ...args], {
      execArgv: [],
      env: {
        ...process.env,
        HUB_CONFIG_DIR: paths.config_dir,
        HUB_DATA_DIR: paths.data_dir,
      },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    child = started
    let complaint = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(-2000)
    })
    started.once('message', () => {
      crashes = 0
      supervised = { state: 'ready', detail: null }
    })
    started.once('error', (error) => {
      complaint = error.message
    })
    started.once('close', (code, signal) => {
      if (child !== started) return
      child = undefined
      const last = complaint.trim().split('\n').at(-1)
      const detail = last ? verbatim(last) : say.ended_with(signal ?? code)
      log({ msg: 'model process ended', code, signal, detail: detail.en })
      supervised = { state: 'crashed', detail }
      crashes += 1
      const pause = doublingDelay(crashes, { first: pause_ms, longest: MAX_PAUSE_MS })
      restart = setTimeout(start, pause).unref()
    })
  }

  async function stop(): Promise<void> {
    clearTimeout(restart)
    const ending = child
    child = undefined
    file = undefined
    supervised = { state: 'none', detail: null }
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = once(ending, 'exit')
    ending.kill('SIGTERM')
    const kill = setTimeout(() => ending.kill('SIGKILL'), GRACE_MS)
    await ended
    clearTimeout(kill)
  }

  return {
    /** Runs this file instead of the previous one. */
    async run(next: string): Promise<void> {
      await stop()
      file = next
      crashes = 0
      start()
    },
    stop,
    state: (): Supervised => supervised,
    pid: (): number | undefined => child?.pid,
  }
}
