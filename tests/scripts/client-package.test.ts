import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildClientPackage } from '../../scripts/build/client-package.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PROGRAM = `import { createClient } from 'watchpost/client'
const watchpost = createClient({ baseUrl: process.env.URL, token: 'wp_live_example' })
const { data, error } = await watchpost.GET('/api/v1/zones', { params: { query: { limit: 5 } } })
if (error) throw new Error(error.detail)
console.log(data.zones.map((zone) => zone.label).join())
`
const run = promisify(execFile)

let folder: string
let project: string
let server: Server
let asked: { url?: string | undefined; headers: IncomingHttpHeaders }[]
let env: NodeJS.ProcessEnv

/** An empty project that installs, without a network, the archives that \`npm pack\` makes. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-client-'))
  project = join(folder, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{"private": true, "type": "module"}')
  const packages = [
    buildClientPackage(join(folder, 'built')),
    ...['openapi-fetch', 'openapi-typescript-helpers'].map((name) =>
      join(ROOT, 'node_modules', name),
    ),
  ]
  const archives = await Promise.all(
    packages.map(async (path) => {
      const options = ['--silent', '--ignore-scripts', '--pack-destination', folder]
      const { stdout } = await run('npm', ['pack', path, ...options])
      return join(folder, stdout.trim())
    }),
  )
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...archives], {
    cwd: project,
  })
  server = createServer((request, response) => {
    asked.push({ url: request.url, headers: request.headers })
    response.setHeader('Content-Type', 'application/json')
    response.end('{"zones": [{"label": "Harbour"}, {"label": "Depot"}], "next_cursor": null}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  // safe: it listens on a port
  env = { ...process.env, URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  asked = []
})
afterAll(async () => {
  server?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a plain Node project imports watchpost/client and calls the API with its key', async () => {
  await writeFile(join(project, 'main.js'), PROGRAM)
  const { stdout } = await run(process.execPath, ['main.js'], { cwd: project, env })
  expect(stdout).toBe('Harbour,Depot\n')
  expect(asked.at(-1)).toMatchObject({
    url: '/api/v1/zones?limit=5',
    headers: { authorization: 'Bearer wp_live_example' },
  })
})

test('a bundler makes one file of it that runs by itself', async () => {
  await writeFile(join(project, 'source.js'), PROGRAM)
  const esbuild = join(ROOT, 'node_modules/.bin/esbuild')
  const options = ['--bundle', '--format=esm', '--outfile=../bundle.mjs', '--log-level=warning']
  await run(esbuild, ['source.js', ...options], { cwd: project })
  const { stdout } = await run(process.execPath, ['bundle.mjs'], { cwd: folder, env })
  expect(stdout).toBe('Harbour,Depot\n')
})

test('its types know the paths, the parameters and the answers', async () => {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext']
  const check = (file: string) =>
    run(tsc, [file, ...options, '--target', 'es2022', '--types', ''], { cwd: project })
  const typed = PROGRAM.replace('process.env.URL', "'https://watchpost.example'")
  await writeFile(join(project, 'right.ts'), typed)
  await check('right.ts')
  await writeFile(join(project, 'wrong.ts'), typed.replace('zone.label', 'zone.lable'))
  await expect(check('wrong.ts')).rejects.toMatchObject({
    stdout: expect.stringContaining("Property 'lable' does not exist"),
  })
})

test('it says what it is, and depends on nothing but its HTTP client', async () => {
  const installed = join(project, 'node_modules/watchpost/package.json')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const manifest = JSON.parse(await readFile(installed, 'utf8'))
  expect(manifest).toMatchObject({ name: 'watchpost', version, license: 'Apache-2.0' })
  expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch'])
})
