import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Deps } from '../context.ts'

const SWAGGER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
export const ONE_DAY_SECONDS = 24 * 60 * 60

/** Every static file that is served, by its name. */
export const FILES: ReadonlyMap<string, { path: string; type: string }> = new Map([
  ['docs/swagger-ui.css', swagger('swagger-ui.css', 'text/css; charset=utf-8')],
  ['docs/swagger-ui-bundle.js', swagger('swagger-ui-bundle.js', 'text/javascript; charset=utf-8')],
])

/** Serves a static file from disk, for Node. */
export const asset: Deps['asset'] = async (name) => {
  const file = FILES.get(name)
  if (!file) return undefined
  return new Response(await readFile(file.path), {
    headers: {
      'Content-Type': file.type,
      'Cache-Control': `public, max-age=${ONE_DAY_SECONDS}`,
    },
  })
}

function swagger(name: string, type: string) {
  return { path: join(SWAGGER, name), type }
}
