import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asset } from '../../functions/node/assets.ts'
import { open, startBrowser } from '../hub/web/browser.ts'
import { createService, type Person, type Service } from '../support/service.ts'

let service: Service
let person: Person
let browser: Browser
let server: Server
let origin: string

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const answer = await service.request(request.method ?? 'GET', request.url ?? '/', {
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
    })
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  service = await createService({ asset, public_url: origin })
  person = await service.person()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  server?.close()
  await service?.close()
})

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

test('every answer brings a policy under which no foreign and no inline script runs', async () => {
  const documented = (await service.routes()).map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'))
  const others = [
    '/',
    '/docs',
    '/docs/start.js',
    '/docs/swagger-ui.css',
    '/docs/none',
    '/status',
    '/x',
  ]
  const pages: string[] = []
  for (const path of new Set([...documented, ...others])) {
    const { headers, text } = await service.request('GET', path, person)
    expect([path, headers.get('Content-Security-Policy')]).toEqual([path, POLICY])
    if (!headers.get('Content-Type')?.startsWith('text/html')) continue
    pages.push(path)
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:/i)
  }
  expect(pages).toEqual(['/docs', '/status'])
})

test('/docs draws, opens and asks under it, and the browser has nothing to report', async () => {
  const { page, wrongs } = await open(browser, origin)
  await page.goto('/docs')
  await page.locator('.opblock').first().waitFor()
  expect(await page.locator('.opblock').count()).toBeGreaterThan(30)
  await page.locator('.auth-wrapper .authorize').click()
  const form = page.locator('.auth-container').first()
  await form.locator('input').fill(person.key)
  await form.locator('button[type="submit"]').click()
  await page.locator('.btn-done').first().click()
  const me = page.locator('.opblock:has([data-path="/api/v1/me"])')
  await me.locator('.opblock-summary-control').click()
  await me.locator('.try-out__btn').click()
  await me.locator('.execute').click()
  await me.locator('.live-responses-table', { hasText: person.user_id }).waitFor()
  expect(wrongs).toEqual([])
})
