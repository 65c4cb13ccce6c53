import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { ISSUER } from '../support/servers/issuer.ts'
import { EDGES, type Edge } from './edges.ts'

const TILES = {
  TILE_URL: 'https://tiles.example.com/{z}/{x}/{y}.png',
  TILE_ATTRIBUTION: '© OpenStreetMap contributors',
}

describe.each(EDGES)('on %s', (name, start) => {
  let database: TestDatabase
  let edge: Edge
  beforeAll(async () => {
    database = await createTestDatabase()
    const variables = { ...TILES, AUTH_PUBLISHABLE_KEY: 'sb_publishable_1' }
    edge = await start({ database, budget_seconds: 10, variables, onLine: () => undefined })
  }, 120_000)
  afterAll(async () => {
    await edge?.close()
    await database?.drop()
  })
  const get = (path: string) => edge.ask('none', 'GET', path)

  test('the console is told where people sign in, and which tiles lie under its map', async () => {
    const answer = await get('/console.json')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      auth_url: ISSUER,
      auth_key: 'sb_publishable_1',
      by: 'mail',
      tiles: { url: TILES.TILE_URL, attribution: TILES.TILE_ATTRIBUTION },
    })
    const policy = answer.headers.get('Content-Security-Policy')
    expect(policy).toContain(
      `connect-src 'self' ${new URL(ISSUER).origin} https://tiles.example.com;`,
    )
    expect(policy).toContain("img-src 'self' data: https://tiles.example.com;")
  })

  if (name !== 'workerd') return
  test('the console itself is there, with headers of its own for each kind of file', async () => {
    const page = await get('/')
    expect(page.status).toBe(200)
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('Cache-Control')).toBe('no-cache')
    expect(page.headers.get('Content-Security-Policy')).toContain(new URL(ISSUER).origin)
    const html = await page.text()
    const [, script = ''] = /src="\.(\/assets\/[\w.-]+\.js)"/.exec(html) ?? []
    const file = await get(script)
    expect(file.status).toBe(200)
    expect(file.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(file.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(file.headers.get('Content-Security-Policy')).toContain("script-src 'self'")
    expect((await get('/docs/swagger-ui.css')).headers.get('Cache-Control')).toBe(
      'public, max-age=86400',
    )
    expect((await get('/stamp')).status).toBe(404)
    const none = await get('/assets/none.js')
    expect(none.status).toBe(404)
    expect(z.object({ code: z.string() }).parse(await none.json()).code).toBe('not_found')
  })
})
