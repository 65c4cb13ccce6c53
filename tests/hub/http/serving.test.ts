import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Env } from '../../../hub/http/http.ts'
import { mountWeb } from '../../../hub/http/web-server.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let folder: string
let app: Hono<Env>
let hub: TestHub
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-served-'))
  await mkdir(join(folder, 'hub/assets'), { recursive: true })
  await writeFile(join(folder, 'hub/index.html'), '<!doctype html><title>Hub</title>')
  await writeFile(join(folder, 'hub/assets/index-abc.js'), 'void 0')
  await writeFile(join(folder, 'hub/theme.js'), 'void 0')
  await writeFile(join(folder, 'secret.js'), 'secret')
  await writeFile(join(folder, 'hub/.hidden.js'), 'secret')
  await symlink(join(folder, 'secret.js'), join(folder, 'hub/linked.js'))
  await symlink(folder, join(folder, 'hub/linked'))
  app = new Hono<Env>()
  mountWeb(app, join(folder, 'hub'))
  hub = await startHub()
})
afterAll(async () => {
  await hub?.close()
  await rm(folder, { recursive: true, force: true })
})

test('every address of the interface answers its one page, which is never cached', async () => {
  for (const path of ['/hub/', '/hub/p/demir/leads?q=a.b', '/hub/welcome']) {
    const page = await app.request(path)
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(page.headers.get('content-type')).toContain('text/html')
  }
  expect((await app.request('/')).headers.get('location')).toBe('/hub/')
  expect((await app.request('/hub')).headers.get('location')).toBe('/hub/')
})

test('files with a hash in their name are cached for a year, others are revalidated', async () => {
  const script = await app.request('/hub/assets/index-abc.js')
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect(script.headers.get('content-type')).toContain('text/javascript')
  expect((await app.request('/hub/theme.js')).headers.get('cache-control')).toBe('no-cache')
  expect((await app.request('/hub/assets/gone.js')).status).toBe(404)
})

test.each([
  '/hub/../secret.js',
  '/hub/..%2fsecret.js',
  '/hub/%2e%2e/secret.js',
  '/hub//etc/x.js',
  '/hub/.hidden.js',
  '/hub/%2ehidden.js',
  '/hub/linked.js',
  '/hub/linked/secret.js',
])('%s is not found', async (path) => {
  const answer = await app.request(path)
  expect(await answer.text()).not.toContain('secret')
  expect(answer.status).toBe(404)
})

test('a hub whose interface is not built says how to build it', async () => {
  const bare = new Hono<Env>()
  mountWeb(bare, join(folder, 'nothing'))
  const answer = await bare.request('/hub/')
  expect(answer.status).toBe(503)
  expect(await answer.text()).toContain('npm run build:web')
})

test('the page comes without a session, under a policy without inline code; the data do not', async () => {
  const page = await hub.app.request('/hub/', { headers: { host: 'localhost' } })
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toContain('unsafe')
  const data = await hub.app.request('/api/cockpit/projects/list', {
    headers: { host: 'localhost' },
  })
  expect(data.status).toBe(401)
})
