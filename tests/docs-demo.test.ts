import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { blocksOf, ROOT } from './support/pages.ts'

test('the commands of the README work as they stand', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-readme-'))
  const started: ChildProcess[] = []
  try {
    const [port, receiving] = [await freePort(), await freePort()]
    const data = ['--data-dir', join(folder, 'data')]
    const demo = run(['scripts/start.ts', '--replay', '--port', String(port), ...data], started)
    await demo.says(/REPLAY: recorded events/)
    const key = (await demo.says(/wp_live_\w+/))[0]
    const secret = (await demo.says(/whsec_[\w+/=]+/))[0]
    const receiver = run(
      ['scripts/receiver.ts', '--secret', secret, '--port', String(receiving)],
      started,
    )
    await receiver.says(/Receiving on/)

    const script = blocksOf('README.md')
      .filter(({ language, mark }) => language === 'sh' && mark === 'demo')
      .map(({ code }) => code)
      .join('\n')
      .replaceAll('wp_live_…', key)
      .replaceAll('whsec_…', secret)
      .replaceAll('8787', String(port))
      .replaceAll('8899', String(receiving))
      .replaceAll('curl -sw', 'curl --fail-with-body -sw')
    const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script])
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => Object.keys(JSON.parse(line))[0])
    expect(answers).toEqual(['channel', 'zone', 'zone', 'alerts'])
    const told = await receiver.says(
      /alert\.raised in .+: REPLAY M .+ \(severity \d+\), signature valid/,
    )
    expect(told[0]).not.toBe('')
  } finally {
    for (const child of started) child.kill('SIGTERM')
    await Promise.all(
      started.map(
        (child) =>
          new Promise((done) => (child.exitCode === null ? child.once('exit', done) : done(0))),
      ),
    )
    await rm(folder, { recursive: true, force: true })
  }
})

/** A script of ours as its own process; `says` waits until its output matches. */
function run(args: string[], started: ChildProcess[]) {
  const env = { ...process.env, LOG: 'json', ALLOW_PRIVATE_TARGETS: '' }
  const child = spawn(process.execPath, args, { cwd: ROOT, env })
  started.push(child)
  let text = ''
  child.stdout.on('data', (part) => (text += part))
  child.stderr.on('data', (part) => (text += part))
  return {
    says: (pattern: RegExp) =>
      new Promise<RegExpMatchArray>((done, fail) => {
        const look = () => {
          const found = text.match(pattern)
          if (found) return done(found)
          if (child.exitCode !== null)
            return fail(new Error(`${args[0]} ended: ${text.slice(-2000)}`))
          setTimeout(look, 100)
        }
        look()
      }),
  }
}

async function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
