import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxySecretFile } from '../../../hub/auth/caller.ts'
import { readText } from '../../../hub/files.ts'
import { renderProxy, renderSite, type Site } from '../../../hub/install/site.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** A real nginx in front of a real hub, with what the installer writes. */
let hub: TestHub
let folder: string
let server: ReturnType<typeof serve>
let nginx: ChildProcess
/** What came to the hub through nginx: that it did, and how many bytes of a body. */
const seen: { path: string; bytes: number }[] = []
let whole: number
let links: number
let plain: number
let secret: string

beforeAll(async () => {
  hub = await startHub()
  folder = await mkdtemp(join(tmpdir(), 'watchpost-nginx-'))
  await chmod(folder, 0o755)
  server = serve({ fetch: hub.app.fetch, hostname: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  ;(server as http.Server).on('request', (request) => {
    const one = { path: request.url ?? '', bytes: 0 }
    seen.push(one)
    request.on('data', (chunk: Buffer) => {
      one.bytes += chunk.length
    })
  })
  secret = (await readText(proxySecretFile(hub.paths)))?.trim() ?? ''
  ;[whole, links, plain] = await Promise.all([freePort(), freePort(), freePort()])
  await start()
}, 60_000)
afterAll(async () => {
  if (nginx?.exitCode === null) {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  }
  await new Promise((resolve) => server?.close(resolve))
  await hub.close()
  await rm(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo // safe: it listens on TCP
  await new Promise((resolve) => probe.close(resolve))
  return port
}

const SITE = {
  names: 'localhost',
  tls_dir: '/tls',
  proxy_file: '/proxy.conf',
  answers_dir: '/acme',
  has_limits: true,
}
const ANSWERS = '.well-known/acme-challenge'
const spool = () => join(folder, 'spool')

async function start() {
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: as above
  const proxy_file = join(folder, 'proxy.conf')
  await writeFile(proxy_file, renderProxy(secret))
  await mkdir(spool())
  await chmod(spool(), 0o777)
  execFileSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=x'.split(
      ' ',
    ),
    ...['-keyout', join(folder, 'hub.key'), '-out', join(folder, 'hub.crt')],
  ])
  const answers_dir = join(folder, 'acme')
  await mkdir(join(answers_dir, ANSWERS), { recursive: true })
  await writeFile(join(answers_dir, ANSWERS, 'token'), 'token.key')
  await writeFile(join(answers_dir, 'other'), 'not an answer')
  const names = 'localhost'
  const site = { names, tls_dir: folder, proxy_file, answers_dir, has_limits: true, upstream }
  const full = renderSite({ ...site, bind: '127.0.0.1', published: 'hub' })
  const few = renderSite({ ...site, bind: '192.0.2.1', published: 'unsubscribe' })
  // The second one's own parts alone: zones stand once in a configuration, and the machine has no such address.
  const open = few
    .slice(few.lastIndexOf('server {', few.lastIndexOf('server {') - 1))
    .replace('192.0.2.1:443 ssl', `127.0.0.1:${links} ssl`)
    .replace('192.0.2.1:80', `127.0.0.1:${plain}`)
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path ${spool()}; proxy_temp_path ${folder}/p;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  ${full.replace('127.0.0.1:80;', `127.0.0.1:${whole};`)}
  ${open}
}`,
  )
  nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  let isMissing = false
  nginx.on('error', () => {
    isMissing = true
  })
  for (let tries = 0; tries < 200; tries += 1) {
    if (isMissing) throw new Error('No nginx: apt-get install nginx-light (sh scripts/nginx.sh).')
    const { status } = await ask('GET', '/api/cockpit/health').catch(() => ({ status: 0 }))
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nginx does not answer: ${await readText(join(folder, 'error.log'))}`)
}

type Given = { headers?: Record<string, string>; mib?: number; chunked?: boolean; port?: number }
/** One request; its body is sent until the answer comes. Answers how much of it was sent. */
function ask(method: string, path: string, given: Given = {}) {
  const { headers = {}, mib = 0, chunked = false, port = whole } = given
  const length = mib * 2 ** 20
  return new Promise<{ status: number; text: string; sent: number }>((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        host: 'localhost',
        ...(length > 0 && !chunked ? { 'content-length': String(length) } : {}),
        ...headers,
      },
    })
    let sent = 0
    let isAnswered = false
    request.on('response', (response) => {
      isAnswered = true
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      const done = () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), sent })
        request.destroy()
      }
      response.on('end', done)
      response.on('error', done)
    })
    request.on('error', (error) => (isAnswered ? undefined : reject(error)))
    const piece = Buffer.alloc(2 ** 16)
    const more = () => {
      if (isAnswered || request.destroyed) return
      if (sent >= length) return request.end()
      sent += piece.length
      request.write(piece, () => setImmediate(more))
    }
    if (length === 0) request.end()
    else {
      request.flushHeaders()
      setTimeout(more, 100)
    }
  })
}

/** What nginx keeps on the disk now: it holds such files open after it has deleted them. */
async function spooled(): Promise<number> {
  let bytes = 0
  const children = (await readText(`/proc/${nginx.pid}/task/${nginx.pid}/children`)) ?? ''
  for (const pid of children.trim().split(' ')) {
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      const file = `/proc/${pid}/fd/${fd}`
      const name = await readlink(file).catch(() => '')
      if (name.startsWith(spool())) bytes += (await stat(file)).size
    }
  }
  return bytes
}
const cameTo = (path: string) => seen.filter((one) => one.path === path)

describe('a body of somebody unknown', () => {
  test.each([
    ['/hub/', 413],
    ['/hub/assets/x.js', 413],
    ['/api/cockpit/login', 413],
    ['/api/cockpit/u/x', 413],
    ['/api/cockpit/leads/list', 413],
    ['/api/cockpit/backup/upload', 401],
    ['/api/cockpit/leads/import', 401],
    ['/api/cockpit/documents/upload', 401],
    ['/nowhere', 413],
  ])('of many MiB to %s is answered %s and kept nowhere', async (path, status) => {
    const answer = await ask('POST', path, { mib: /import|documents/.test(path) ? 18 : 24 })
    expect(answer.status).toBe(status)
    expect(answer.sent).toBeLessThan(2 ** 20)
    expect(cameTo(path).reduce((sum, { bytes }) => sum + bytes, 0)).toBe(0)
    expect(await spooled()).toBe(0)
  })

  test('without a length is cut off as well', async () => {
    for (const path of ['/hub/', '/api/cockpit/backup/upload', '/api/cockpit/login']) {
      const given = { mib: 24, chunked: true }
      const { status } = await ask('POST', path, given).catch(() => ({ status: 0 }))
      expect([0, 401, 403, 413]).toContain(status)
    }
    expect(await spooled()).toBeLessThan(2 ** 16)
  })
})

test.each(['leads/import', 'documents/upload'])(
  'who is signed in sends files to %s as large as the hub takes them',
  async (path) => {
    const token = (await readText(join(hub.paths.config_dir, 'hub.token')))?.trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }
    const { status, text } = await ask('POST', `/api/cockpit/${path}`, { mib: 20, headers })
    expect(text).toContain('"request_id"')
    expect(status).not.toBe(413)
  },
)

test('who is signed in uploads through it, unspooled', async () => {
  const token = (await readText(join(hub.paths.config_dir, 'hub.token')))?.trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  let most = 0
  let isOver = false
  const upload = ask('POST', '/api/cockpit/backup/upload?name=x', { mib: 24, headers }).finally(
    () => {
      isOver = true
    },
  )
  while (!isOver) {
    most = Math.max(most, await spooled())
    await new Promise((resolve) => setImmediate(resolve))
  }
  const answer = await upload
  // No backup at all: but it is the hub that says so.
  expect(answer.text).toContain('"request_id"')
  expect(answer.status).not.toBe(413)
  expect(most).toBe(0)
  const { status } = await ask('POST', '/api/cockpit/leads/list', { mib: 3, headers })
  expect(status).toBe(413)
})

test('nginx alone says who asks: another X-Real-IP and secret do not get through', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 6; i += 1) {
    const headers = {
      'content-type': 'application/json',
      'x-real-ip': `203.0.113.${i}`,
      'x-forwarded-for': `203.0.113.${i}`,
      'x-watchpost-proxy': secret,
    }
    const answer = await new Promise<number>((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port: whole,
          method: 'POST',
          path: '/api/cockpit/u/wrong',
          agent: false,
        },
        (response) => resolve(response.resume().statusCode ?? 0),
      )
      for (const [name, value] of Object.entries({ host: 'localhost', ...headers }))
        request.setHeader(name, value)
      request.on('error', reject)
      request.end()
    })
    statuses.push(answer)
  }
  // All are one address to the hub: beyond the free ones they wait together.
  for (let i = 0; i < 40; i += 1) statuses.push((await ask('POST', '/api/cockpit/u/wrong')).status)
  expect(statuses.filter((status) => status === 404)).toHaveLength(31)
})

test('requests beyond the limit are 429, and slow headers are hung up on', async () => {
  const many = await Promise.all(
    Array.from({ length: 60 }, () =>
      ask('POST', '/api/cockpit/login').catch(() => ({ status: 0 })),
    ),
  )
  expect(many.filter(({ status }) => status === 429).length).toBeGreaterThan(20)
})

test('with --public=unsubscribe only the links in mails are answered', async () => {
  process.env.NODE_NO_WARNINGS = '1'
  const get = (path: string, method = 'GET') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = import('node:https').then(({ request }) =>
        request(
          {
            host: '127.0.0.1',
            port: links,
            path,
            method,
            agent: false,
            rejectUnauthorized: false,
            headers: { host: 'localhost' },
          },
          (response) => {
            let text = ''
            response.on('data', (part) => {
              text += part
            })
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          },
        )
          .on('error', reject)
          .end(),
      )
      request.catch(reject)
    })
  seen.length = 0
  for (const path of [
    '/',
    '/hub/',
    '/api/cockpit/health',
    '/api/cockpit/login',
    '/api/cockpit/u/../login',
    '/api/cockpit/u',
    '//api/cockpit/setup',
    '/api/cockpit/u/%2e%2e/setup',
  ]) {
    expect((await get(path, 'POST')).status, path).toBe(404)
    expect((await get(path)).status, path).toBe(404)
  }
  expect(seen).toEqual([])
  expect((await get('/api/cockpit/u/some-token')).text).not.toContain('nginx')
  expect(seen.map(({ path }) => path)).toEqual(['/api/cockpit/u/some-token'])
})

describe('what the installer writes', () => {
  const site: Site = {
    bind: '0.0.0.0',
    published: 'hub',
    names: 'host 192.0.2.1',
    tls_dir: '/etc/watchpost/tls',
    proxy_file: '/opt/watchpost/nginx-proxy.conf',
    answers_dir: '/opt/watchpost/acme',
    has_limits: true,
  }
  test('is TLS alone beyond loopback, and plain HTTP at loopback alone', () => {
    for (const bind of ['0.0.0.0', '::', '192.0.2.1', '2001:db8::1']) {
      for (const published of ['hub', 'unsubscribe'] as const) {
        const servers = renderSite({ ...site, bind, published })
          .split(/^server /m)
          .slice(1)
        for (const one of servers.filter((text) => text.includes('proxy_pass'))) {
          expect(one).toMatch(/listen (127\.0\.0\.1:80|.*443 ssl);/)
        }
      }
    }
  })
  test('has large bodies behind auth_request alone', () => {
    const locations = renderSite(site)
      .split(/^ {4}location /m)
      .slice(1)
    const large = locations.filter((one) => /client_max_body_size \d+[mg];/.test(one))
    expect(large).toHaveLength(3)
    for (const one of large) expect(one).toContain('auth_request /watchpost-session;')
  })
  test('holds no secret that is none', () => {
    expect(() => renderProxy('root:x:0:0; return 200')).toThrow('damaged')
  })
})

test('a certificate authority reads the answers of certbot without TLS, and nothing else', async () => {
  const get = (path: string, method = 'GET') => ask(method, path, { port: plain })
  expect(await get(`/${ANSWERS}/token`)).toMatchObject({ status: 200, text: 'token.key' })
  expect((await get(`/${ANSWERS}/token`, 'POST')).status).toBe(403)
  for (const path of ['', '../other', '../../other', '%2e%2e/%2e%2e/other', 'absent']) {
    expect((await get(`/${ANSWERS}/${path}`)).text, path).not.toContain('not an answer')
  }
  expect((await get('/other')).status).toBe(404)
  const whole = renderSite({ ...SITE, bind: '192.0.2.1', published: 'hub' })
  expect(whole.match(/acme-challenge/g)).toHaveLength(1)
  expect(renderSite({ ...SITE, bind: '127.0.0.1', published: 'hub' })).not.toMatch('acme-challenge')
})
