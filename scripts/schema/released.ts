import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ROOT } from '../postgres/migrate.ts'

/** The SHA-256 of every file of SQL that a release has shipped to databases. */
const LIST = 'scripts/schema/released.json'
const Released = z.record(z.string(), z.string())
/** What makes or changes a database that people already have. */
const SHIPPED = ['supabase/migrations/*.sql', 'hub/sql/base/*.sql', 'hub/sql/upgrades/*.sql']

const sumOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const read = (root: string) => Released.parse(JSON.parse(readFileSync(join(root, LIST), 'utf8')))

/**
 * changedSinceRelease names the released files that are not what they were: a database that has
 * them would never get the change.
 */
export function changedSinceRelease(root = ROOT): string[] {
  return Object.entries(read(root)).flatMap(([path, sum]) => {
    const file = join(root, path)
    if (!existsSync(file)) return [`${path} was removed`]
    return sumOf(file) === sum ? [] : [`${path} was changed`]
  })
}

/** recordRelease adds every file that exists now; it answers those that are new. */
export function recordRelease(root = ROOT): string[] {
  const known = read(root)
  const files = globSync(SHIPPED, { cwd: root }).sort()
  const sums = Object.fromEntries(files.map((path) => [path, sumOf(join(root, path))]))
  writeFileSync(join(root, LIST), `${JSON.stringify({ ...known, ...sums }, null, 2)}\n`)
  return files.filter((path) => !Object.hasOwn(known, path))
}
