import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { renderProxy, renderSite } from '../../../hub/install/site.ts'

const SECRET = 's'.repeat(40)
let folder: string
let runs = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-write-site-'))
  await writeFile(join(folder, 'secret'), `${SECRET}\n`)
  await symlink(join(folder, 'secret'), join(folder, 'link'))
})
afterEach(() => {
  vi.unstubAllEnvs()
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs the program as the installer does, with what it passes in the environment. */
async function write(more: Record<string, string | undefined> = {}) {
  const given: Record<string, string | undefined> = {
    SITE_FILE: join(folder, 'site.conf'),
    SITE_BIND: '0.0.0.0',
    SITE_PUBLIC: 'hub',
    SITE_NAMES: ' hub.example  192.0.2.1 ',
    SITE_TLS_DIR: '/tls',
    SITE_SECRET: join(folder, 'secret'),
    SITE_PROXY: join(folder, 'proxy.conf'),
    SITE_ANSWERS: '/acme',
    SITE_LIMITS: 'yes',
    ...more,
  }
  for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value)
  runs += 1
  const program = new URL(`../../../hub/install/write-site.ts?run=${runs}`, import.meta.url)
  await import(program.href)
  const read = async (name: string) => ({
    text: await readFile(join(folder, name), 'utf8'),
    mode: (await stat(join(folder, name))).mode & 0o777,
  })
  return { site: await read('site.conf'), proxy: await read('proxy.conf') }
}

test.each([
  ['hub', 'yes', true],
  ['unsubscribe', 'no', false],
] as const)(
  'nginx is given what is asked for: %s, limits: %s',
  async (published, limits, has_limits) => {
    const { site, proxy } = await write({ SITE_PUBLIC: published, SITE_LIMITS: limits })
    expect(site.text).toBe(
      renderSite({
        bind: '0.0.0.0',
        published,
        names: 'hub.example 192.0.2.1',
        tls_dir: '/tls',
        proxy_file: join(folder, 'proxy.conf'),
        answers_dir: '/acme',
        has_limits,
      }),
    )
    expect(proxy.text).toBe(renderProxy(SECRET))
    // Everybody may read the addresses, and root alone the secret.
    expect([site.mode, proxy.mode]).toEqual([0o644, 0o600])
  },
)

test.each(
  ['FILE', 'BIND', 'PUBLIC', 'NAMES', 'TLS_DIR', 'SECRET', 'PROXY', 'ANSWERS', 'LIMITS'].map(
    (name) => `SITE_${name}`,
  ),
)('without %s nothing is written', async (name) => {
  await rm(join(folder, 'site.conf'), { force: true })
  await rm(join(folder, 'proxy.conf'), { force: true })
  for (const value of [undefined, '']) {
    await expect(write({ [name]: value })).rejects.toThrow(name)
  }
  await expect(stat(join(folder, 'site.conf'))).rejects.toThrow('ENOENT')
  await expect(stat(join(folder, 'proxy.conf'))).rejects.toThrow('ENOENT')
})

test('a secret behind a link is not read', async () => {
  await expect(write({ SITE_SECRET: join(folder, 'link') })).rejects.toThrow('ELOOP')
})
