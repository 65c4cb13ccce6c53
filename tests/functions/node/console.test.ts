import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleRoutes } from '../../../functions/node/console.ts'

const SIGN_IN = { auth_url: './auth/v1', auth_key: null, by: 'link', tiles: null } as const
let parent: string
let console: ReturnType<typeof consoleRoutes>

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'watchpost-console-'))
  const folder = join(parent, 'console')
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'index.html'), '<title>Console</title>')
  await writeFile(join(folder, 'assets/main-1.js'), 'main()')
  await writeFile(join(folder, 'assets/main-1.js.gz'), gzipSync('main()'))
  await writeFile(join(parent, 'secret.js'), 'secret')
  await writeFile(join(folder, '.hidden.js'), 'secret')
  await symlink(join(parent, 'secret.js'), join(folder, 'linked.js'))
  await symlink(parent, join(folder, 'linked'))
  console = consoleRoutes(SIGN_IN, folder)
})
afterAll(() => rm(parent, { recursive: true }))

test('it tells where people sign in', async () => {
  expect(await (await console.request('/console.json')).json()).toEqual(SIGN_IN)
})

test('the page is asked for again each time, files that never change are kept', async () => {
  const page = await console.request('/')
  expect([page.headers.get('Content-Type'), page.headers.get('Cache-Control')]).toEqual([
    'text/html; charset=utf-8',
    'no-cache',
  ])
  expect(await page.text()).toContain('Console')
  const script = await console.request('/assets/main-1.js')
  expect([script.headers.get('Content-Type'), script.headers.get('Cache-Control')]).toEqual([
    'text/javascript; charset=utf-8',
    'public, max-age=31536000, immutable',
  ])
})

test('what is kept compressed is sent so to whoever takes it', async () => {
  const asked = { headers: { 'Accept-Encoding': 'gzip, deflate' } }
  const script = await console.request('/assets/main-1.js', asked)
  expect([script.headers.get('Content-Encoding'), script.headers.get('Content-Type')]).toEqual([
    'gzip',
    'text/javascript; charset=utf-8',
  ])
  expect(script.headers.get('Vary')).toBe('Accept-Encoding')
  expect(gunzipSync(Buffer.from(await script.arrayBuffer())).toString()).toBe('main()')
  expect((await console.request('/', asked)).headers.get('Content-Encoding')).toBeNull()
})

test.each([
  '/none.js',
  '/../secret.js',
  '/%2e%2e/secret.js',
  '/..%2fsecret.js',
  '/assets',
  '/.hidden.js',
  '/%2ehidden.js',
  '/linked.js',
  '/linked/secret.js',
  '/linked/console/.hidden.js',
])('there is nothing at %s', async (path) => {
  const answer = await console.request(path)
  expect([answer.status, await answer.text()]).toEqual([404, '404 Not Found'])
})
