import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { COMMON, INTERFACES } from '../../scripts/build/build-web.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** A relative import of more than types. */
const IMPORT = /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gm

/** The files below `root` and all that they import of the repository. */
async function filesOf(root: string): Promise<Set<string>> {
  const entries = await readdir(join(ROOT, root), { recursive: true, withFileTypes: true })
  const found = new Set(
    entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  )
  // A set goes through what is added to it meanwhile as well.
  for (const file of found) {
    if (!/\.tsx?$/.test(file)) continue
    const text = await readFile(join(ROOT, file), 'utf8')
    for (const [, path = ''] of text.matchAll(IMPORT)) {
      const whole = join(ROOT, dirname(file), path)
      if (existsSync(whole)) found.add(relative(ROOT, whole))
    }
  }
  return found
}

test.each(Object.entries(INTERFACES))(
  'a change of any file that is part of %s builds it again',
  async (_, { root, sources }) => {
    const known: string[] = [...COMMON, ...sources]
    const files = await filesOf(root === 'web' ? 'web/pages' : root)
    expect(files.size).toBeGreaterThan(10)
    const missing = [...files].filter(
      (file) => !known.some((source) => file === source || file.startsWith(`${source}/`)),
    )
    expect(missing).toEqual([])
  },
)
