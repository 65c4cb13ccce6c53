import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Hono } from 'hono'
import { getMimeType } from 'hono/utils/mime'
import { staticFiles } from '../../shared/static-files.ts'
import type { Env } from './http.ts'

/** The folder of the built pages (scripts/build/build-web.ts). */
const FOLDER = join(import.meta.dirname, '../../dist/hub')

/**
 * mountWeb serves the interface at /hub/ to anybody: it holds no data. An address that does not end
 * like a file is a page of the interface, which finds its way by itself.
 */
export function mountWeb(app: Hono<Env>, folder = FOLDER): void {
  const files = staticFiles(folder, '/hub')
  const page = serveStatic<Env>({ root: folder, path: 'index.html' })
  app.get('/', (c) => c.redirect('/hub/'))
  app.get('/hub', (c) => c.redirect('/hub/'))
  app.get('/hub/*', async (c, next) => {
    if (getMimeType(c.req.path)) return files(c, next)
    const answer = await page(c, async () => {})
    if (!(answer instanceof Response)) {
      return c.text('The interface is not built. Run `npm run build:web`, then reload.', 503)
    }
    answer.headers.set('Cache-Control', 'no-store')
    return answer
  })
}
