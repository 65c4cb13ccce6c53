import { execFileSync, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Answer, Asked } from './runner.ts'

/** Copies the files of the tree into a folder of its own, where it replaces an older copy; packages are linked. */
export function copyOf(root: string): string {
  // The same folder each time: what was transformed for it is stored by its path.
  const name = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const tree = join(tmpdir(), `watchpost-mutants-${name}`, 'clone')
  removeTree(tree)
  mkdirSync(tree, { recursive: true })
  // Recordings may lie beside the clone: see tests/support/feeds/feeds.ts.
  const beside = join(root, '../shared')
  if (existsSync(beside)) symlinkSync(realpathSync(beside), join(tree, '../shared'))
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', options, { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(tree, file))
  }
  for (const folder of ['', 'hub', 'web', 'hub/web', 'functions/tracing/otlp']) {
    const modules = join(folder, 'node_modules')
    if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(tree, modules))
  }
  // The pages as `npm test` builds them: what serves them is tested with them.
  for (const pages of ['dist/console', 'dist/hub']) {
    if (existsSync(join(root, pages)))
      cpSync(join(root, pages), join(tree, pages), { recursive: true })
  }
  return tree
}

export type Runner = {
  /** Runs tests until one fails; `late` if they did not end. */
  run(asked: Asked): Promise<Answer | 'late'>
  stop(): Promise<void>
}

/** A process that runs tests of a tree, see runner.ts; it starts with the first question. */
export function runnerIn(tree: string, env: Record<string, string> = {}): Runner {
  let child: ReturnType<typeof fork> | undefined
  const start = async () => {
    const started = fork(join(tree, 'scripts/proof/mutants/runner.ts'), {
      cwd: tree,
      env: { ...process.env, VITEST_MAX_WORKERS: '2', ...env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
    })
    await once(started, 'message')
    return started
  }
  const stop = async () => {
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.disconnect()
    const timer = setTimeout(kill, 20_000)
    await ended
    clearTimeout(timer)
    child = undefined
  }
  const kill = () => {
    if (child?.pid) process.kill(-child.pid, 'SIGKILL')
    child = undefined
  }
  return {
    async run(asked) {
      child ??= await start()
      const asking = child
      const timer = setTimeout(kill, asked.max_ms ?? 10 * 60_000)
      const answer = new Promise<Answer | 'late'>((resolve) => {
        asking.once('message', resolve)
        asking.once('exit', () => resolve('late'))
      })
      asking.send(asked)
      const said = await answer
      clearTimeout(timer)
      asking.removeAllListeners()
      return said
    },
    stop,
  }
}

/** Removes a copy, with the folder that holds it. */
export const removeTree = (tree: string) => rmSync(dirname(tree), { recursive: true, force: true })
