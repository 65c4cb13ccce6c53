import { OpenAPIHono } from '@hono/zod-openapi'
import { expect, test } from 'vitest'
import { mountDocs } from '../../../functions/api/docs.ts'
import type { Deps, Env } from '../../../functions/context.ts'

const app = new OpenAPIHono<Env>()
const asked: string[] = []
app.use(async (c, next) => {
  // safe: nothing else is needed of them
  c.set('deps', {
    public_url: 'https://watchpost.test',
    asset: async (path) => {
      asked.push(path)
      return path === 'docs/ui.css' ? new Response('body {}') : undefined
    },
  } as Partial<Deps> as Deps)
  await next()
})
mountDocs(app, '/api/v1')

test('the page of the API loads its files from beside it, and names the description for machines', async () => {
  const answer = await app.request('/docs')
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/)
  const html = await answer.text()
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file)
  expect(files).toEqual([
    'docs/swagger-ui.css',
    ...['api/v1/openapi.json', 'api/v1/openapi.json'],
    ...['docs/swagger-ui-bundle.js', 'docs/start.js'],
  ])
  expect(html).toContain('<div id="docs">')
  const script = await app.request('/docs/start.js')
  expect(script.headers.get('Content-Type')).toMatch(/^text\/javascript/)
  const text = await script.text()
  expect(text).toContain(`url: 'api/v1/openapi.json'`)
  expect(text).toContain(`dom_id: '#docs'`)
  // The key that somebody tries out is not kept, and nothing is sent to others for validation.
  expect(text).toContain('persistAuthorization: false')
  expect(text).toContain('validatorUrl: null')
})

test('the files of the page are those beside the program, and there are no others', async () => {
  asked.length = 0
  expect(await (await app.request('/docs/ui.css')).text()).toBe('body {}')
  expect((await app.request('/docs/none.css')).status).toBe(404)
  expect((await app.request('/docs/a/b.css')).status).toBe(404)
  expect(asked).toEqual(['docs/ui.css', 'docs/none.css'])
})

test.each(['json', 'yaml'])('the description as %s may be kept for five minutes', async (form) => {
  const answer = await app.request(`/api/v1/openapi.${form}`)
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=300')
  expect(answer.headers.get('Content-Type')).toBe(`application/${form}`)
  expect(await answer.text()).toContain('https://watchpost.test')
})
