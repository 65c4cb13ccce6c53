import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, type Service } from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

const page = () => service.request('GET', '/status')
const titleOf = async () => /<h1>(.*)<\/h1>/.exec((await page()).text)?.[1]
const rowOf = (text: string, source: string) =>
  text.split('<tr>').find((row) => row.includes(`<code>${source}</code>`)) ?? ''

async function source(name: string, fields: Record<string, unknown> = {}) {
  const row = { last_success_at: new Date(), enabled: true, title: 'A feed', ...fields }
  const names = Object.keys(row)
  await service.database.query(
    `insert into watchpost.sources (source, attribution, types, interval_seconds, ${names.join(', ')})
    values ($1, 'Somebody', array['earthquake'], 60, ${names.map((_, i) => `$${i + 2}`).join(', ')})`,
    [name, ...Object.values(row)],
  )
}
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)

test('without a source there is nothing to report', async () => {
  expect(await titleOf()).toBe('Watchpost polls no source')
  await source('off', { enabled: false, error: 'OFF_KEY not set' })
  expect(await titleOf()).toBe('Watchpost polls no source')
})

test('says of each source how it is, to anybody, without a script', async () => {
  await source('good', { last_event_at: ago(185) })
  expect(await titleOf()).toBe('All sources are working')
  await source('silent', { last_success_at: ago(60) })
  expect(await titleOf()).toBe('1 of 2 sources has a problem')
  await source('failing', {
    last_success_at: null,
    error: 'answered <b>HTTP 500</b> at https://example.org/key',
    error_at: new Date(),
    title: '<script>alert(1)</script>',
  })
  const { status, text, headers } = await page()
  expect(status).toBe(200)
  expect(headers.get('Content-Type')).toContain('text/html')
  expect(headers.get('Cache-Control')).toBe('public, max-age=30')
  expect(text).toContain('<h1>2 of 3 sources have a problem</h1>')
  expect(rowOf(text, 'good')).toMatch(/● *<\/span> Working[\s\S]*>3 h ago</)
  expect(rowOf(text, 'silent')).toMatch(/▲ *<\/span> Silent[\s\S]*>60 min ago</)
  expect(rowOf(text, 'failing')).toMatch(/◆ *<\/span> Failing[\s\S]*never/)
  expect(rowOf(text, 'off')).toMatch(/○ *<\/span> Off[\s\S]*OFF_KEY not set/)
  // What comes from outside is text, and an address shows no more than its host.
  expect(text).toContain('answered &lt;b&gt;HTTP 500&lt;/b&gt; at https://example.org/…')
  expect(text).not.toContain('<script')
})

test('the stylesheet is beside it, and programs are sent to the JSON', async () => {
  const { text } = await page()
  expect(text).toContain('href="api/sources/health"')
  // Its icon is within it, so no browser asks for another file.
  expect(text).toMatch(/<link rel="icon" href="data:image\/svg\+xml,%3Csvg[^"<>]+%3C%2Fsvg%3E">/)
  const [, href] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? []
  const style = await service.request('GET', `/${href}`)
  expect(style.status).toBe(200)
  expect(style.headers.get('Content-Type')).toContain('text/css')
})

test('it counts the events of a day and the usual delay', async () => {
  await source('busy')
  await service.database.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, first_seen_at)
    select 'busy:' || n, 'busy', 'earthquake', 'M 5', 1, 1, now() - interval '10 minutes', 50, 'active', box '(1,1),(1,1)',
      now() - interval '5 minutes'
    from generate_series(1, 1200) n`,
  )
  expect(rowOf((await page()).text, 'busy')).toMatch(/<td>1,200<\/td>\s*<td>5 min<\/td>/)
})
