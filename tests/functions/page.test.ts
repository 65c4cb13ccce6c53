import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { Deps, Env } from '../../functions/context.ts'
import { pageHtml, pageRoutes, STYLE } from '../../functions/page.ts'

const app = new Hono<Env>()
app.use(async (c, next) => {
  // safe: nothing else is needed of them
  c.set('deps', { public_url: 'https://watchpost.test' } as Partial<Deps> as Deps)
  c.header('Vary', 'Origin')
  await next()
})
app.route(
  '/greeting',
  pageRoutes('greeting', ({ public_url, language }) => ({
    title: language === 'tr' ? 'Merhaba' : 'Hello',
    main: `<p>At ${public_url}</p>`,
    script: `console.log('${language}')`,
  })),
)
const ask = (path: string, language = 'en') =>
  app.request(path, { headers: { 'Accept-Language': language } })

test.each([
  ['en', 'Hello'],
  ['tr', 'Merhaba'],
])('a page is in the language of its reader: %s', async (language, title) => {
  const answer = await ask('/greeting', language)
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/)
  expect(answer.headers.get('Vary')).toBe('Origin, Accept-Language')
  const html = await answer.text()
  expect(html).toContain(`<html lang="${language}">`)
  expect(html).toContain(`<title>${title}</title>`)
  const [, icon] = /<link rel="icon" href="data:image\/svg\+xml,([^"]+)">/.exec(html) ?? []
  expect(html).toContain(`<header>${decodeURIComponent(icon ?? 'none')}Watchpost</header>`)
  expect(decodeURIComponent(icon ?? '')).toMatch(/^<svg .*<\/svg>$/)
  expect(html).toContain(`<h1>${title}</h1>\n<p>At https://watchpost.test</p>\n</main>`)
  expect(html).toContain('<link rel="stylesheet" href="greeting/page.css">')
  expect(html).toContain('<script src="greeting/page.js"></script>')
  const script = await ask('/greeting/page.js', language)
  expect(script.headers.get('Content-Type')).toMatch(/^text\/javascript/)
  expect(await script.text()).toBe(`console.log('${language}')`)
})

test('its style is a file of its own', async () => {
  const answer = await ask('/greeting/page.css')
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/css/)
  expect(await answer.text()).toBe(STYLE)
  expect(STYLE).toMatch(/body\s*\{/)
})

test('a page without a script has none, and one that is not to load itself again does not', () => {
  const plain = pageHtml({ title: 'Here', main: '<p>Now</p>', stylesheet: 'a.css' })
  expect(plain).toContain('<html lang="en">')
  expect(plain).not.toMatch(/<script|http-equiv/)
  expect(plain).toContain('<p>Now</p>\n</main>\n</body>')
  expect(plain).toContain('initial-scale=1">\n<title>Here</title>')
  const again = pageHtml({ title: '', main: '', stylesheet: '', refresh_seconds: 60 })
  expect(again).toContain('\n<meta http-equiv="refresh" content="60">\n<title>')
})
