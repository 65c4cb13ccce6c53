import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildSite } from '../../scripts/build/site.ts'
import { staticFiles } from '../../shared/static-files.ts'
import { eventually, open, settled } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

/** A map without a graphics card takes its time. */
const SLOW_MS = 60_000
const originOf = (server: { address: () => AddressInfo | string | null }) => {
  const address = server.address()
  return `http://localhost:${typeof address === 'object' && address ? address.port : 0}`
}

let folder: string
let at: ServedConsole
let owner: Person
let tiles: Server
let site: ReturnType<typeof serve>
let place: string
const asked: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-site-'))
  const pages = new Hono().get('/*', staticFiles(folder))
  await new Promise<void>((done) => {
    site = serve({ fetch: pages.fetch, hostname: '127.0.0.1', port: 0 }, () => done())
  })
  const tile = await sharp({
    create: { width: 256, height: 256, channels: 3, background: '#ff00ff' },
  })
    .png()
    .toBuffer()
  tiles = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Content-Type', 'image/png')
    response.end(tile)
  })
  await new Promise<void>((done) => tiles.listen(0, '127.0.0.1', done))
  place = originOf(site)
  at = await serveConsole({
    hasWebGL: true,
    origins: [place],
    tiles: { url: `${originOf(tiles)}/{z}/{x}/{y}.png`, attribution: '© <b>Makers</b> & others' },
  })
  owner = await at.service.person()
  await makeZone(at, owner, { label: 'The strait', lat: 41, lon: 29 })
  await buildSite(at.origin, folder)
})
afterAll(async () => {
  await at?.close()
  tiles?.close()
  site?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a console on another host signs in, reads and writes at its service', async () => {
  const { page, wrongs } = await open(at.browser, place, { isCoarse: true })
  await page.goto('/')
  await page.getByLabel('Sign-in link').fill(await at.linkFor(owner))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Zones' }).first().click()
  await page.getByRole('link', { name: 'The strait' }).waitFor()
  await page.goto('/#/account/keys')
  await page.getByRole('button', { name: 'Make a key' }).first().click()
  await page.getByLabel('What is it for?').fill('From elsewhere')
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click()
  const key = await page.getByRole('textbox', { name: 'Key' }).inputValue()
  expect((await at.service.request('GET', '/api/v1/zones', { key })).status).toBe(200)
  await settled(page)
  const known = wrongs.filter((wrong) => !wrong.startsWith(`request: ${at.origin}/`))
  expect(known.filter((wrong) => !wrong.startsWith(`request: ${originOf(tiles)}/`))).toEqual([])
  expect(wrongs).not.toEqual([])
})

test('its page forbids every other address by itself, and its host is told the headers', async () => {
  const html = await readFile(join(folder, 'index.html'), 'utf8')
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      `connect-src 'self' ${at.origin} ${originOf(tiles)}`,
    ]),
  )
  const headers = await readFile(join(folder, '_headers'), 'utf8')
  expect(headers).toContain(`  Content-Security-Policy: ${policy}; frame-ancestors 'none'\n`)
  const { page, wrongs } = await open(at.browser, place, { isCoarse: true })
  await page.goto('/')
  await page.evaluate(() => fetch('http://localhost:1/').catch(() => undefined))
  await eventually(async () => wrongs.filter((wrong) => wrong.startsWith('policy'))).toEqual([
    'policy: connect-src http://localhost:1/',
  ])
})

test('an address that is none of a service is refused, and nothing is written', async () => {
  const none = join(folder, 'none')
  await expect(buildSite(place.replace(/\d+$/, '1'), none)).rejects.toThrow(
    /console\.json does not say how the service is set up .* Deploy the service first/,
  )
  await expect(buildSite(originOf(tiles), none)).rejects.toThrow(/does not say/)
  await expect(readFile(join(none, 'index.html'))).rejects.toThrow()
})

test('the tiles of a server lie under the map, and who made them is named as text', async () => {
  asked.length = 0
  const opened = await at.visit(owner, '/#/')
  const { page, wrongs } = opened
  await page.setViewportSize({ width: 1040, height: 600 })
  const map = page.locator('section[aria-label="Map of events and zones"][data-ready=true]')
  await map.waitFor({ timeout: SLOW_MS })
  await expect.poll(() => asked.length, { timeout: SLOW_MS }).toBeGreaterThan(0)
  for (const path of asked) expect(path).toMatch(/^\/\d+\/\d+\/\d+\.png$/)
  const attribution = page.locator('.maplibregl-ctrl-attrib-inner')
  await eventually(() => attribution.textContent()).toContain('© <b>Makers</b> & others')
  // Magenta, dimmed by nothing on a bright page.
  const colour = async () => {
    const { data, info } = await sharp(await map.screenshot())
      .raw()
      .toBuffer({ resolveWithObject: true })
    let count = 0
    for (let i = 0; i < data.length; i += info.channels) {
      if ((data[i] ?? 0) > 240 && (data[i + 1] ?? 255) < 20 && (data[i + 2] ?? 0) > 240) count += 1
    }
    return count / (info.width * info.height)
  }
  await expect.poll(colour, { timeout: SLOW_MS }).toBeGreaterThan(0.5)
  expect(wrongs.filter((wrong) => !wrong.startsWith(`request: ${originOf(tiles)}/`))).toEqual([])
})
