import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { createMiddleware } from 'hono/factory'

const A_YEAR = 'public, max-age=31536000, immutable'

/**
 * staticFiles serves the files of a built interface below `prefix` to anybody. What is hidden or a
 * link counts as absent. On Node alone: elsewhere the platform serves them.
 */
export function staticFiles(folder: string, prefix = '') {
  const serveFile = serveStatic({
    root: folder,
    // The build keeps each text compressed beside itself.
    precompressed: true,
    rewriteRequestPath: (path) => path.slice(prefix.length),
  })
  return createMiddleware(async (c, next) => {
    const path = c.req.path.slice(prefix.length)
    if (!(await isOwn(folder, path))) return next()
    const answer = await serveFile(c, next)
    // Only files with a hash of their content in their name never change.
    const cache = path.startsWith('/assets/') ? A_YEAR : 'no-cache'
    if (answer instanceof Response) answer.headers.set('Cache-Control', cache)
    return answer
  })
}

/** Whether a path is of the folder itself: no hidden file, and nothing that a link leads to. */
async function isOwn(folder: string, path: string): Promise<boolean> {
  if (path.includes('/.')) return false
  try {
    return (await realpath(join(folder, path))) === join(await realpath(folder), path, '.')
  } catch {
    return false
  }
}
