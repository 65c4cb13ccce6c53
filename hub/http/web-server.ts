import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import type { Hono } from 'hono'
import type { Env } from './http.ts'

/** The folder of the built pages (scripts/build/build-web.ts). */
const FOLDER = join(import.meta.dirname, '../../dist/hub')
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const A_YEAR = 'public, max-age=31536000, immutable'

/**
 * mountWeb serves the interface at /hub/ to anybody: it holds no data. An address without a file is
 * a page of the interface, which finds its way by itself.
 */
export function mountWeb(app: Hono<Env>, folder = FOLDER): void {
  app.get('/', (c) => c.redirect('/hub/'))
  app.get('/hub', (c) => c.redirect('/hub/'))
  app.get('/hub/*', async (c) => {
    const path = c.req.path.slice('/hub/'.length)
    const type = TYPES[extname(path)]
    if (type) {
      const file = await read(folder, path)
      if (!file) return c.notFound()
      // Only files with a content hash in their name never change.
      const cache = path.startsWith('assets/') ? A_YEAR : 'no-cache'
      return c.body(file, 200, { 'Content-Type': type, 'Cache-Control': cache })
    }
    const page = await read(folder, 'index.html')
    if (page) {
      return c.body(page, 200, {
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'no-store',
      })
    }
    return c.text('The interface is not built. Run `npm run build:web`, then reload.', 503)
  })
}

async function read(folder: string, path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const file = normalize(join(folder, path))
  if (!file.startsWith(folder + sep)) return undefined
  try {
    return new Uint8Array(await readFile(file))
  } catch {
    return undefined
  }
}
