/** Answers `GET /<bytes>` with so many bytes of JSON: what Hono can do on Node when a request needs nothing else. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const answers = new Map<string, string>()
const app = new Hono()
app.all('/:bytes', (c) => {
  const bytes = c.req.param('bytes')
  const answer = answers.get(bytes) ?? JSON.stringify('x'.repeat(Number(bytes) - 2))
  answers.set(bytes, answer)
  return c.body(answer, 200, { 'Content-Type': 'application/json' })
})
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
