import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildWeb } from '../../scripts/build/build-web.ts'

const FOLDER = join(import.meta.dirname, '../../dist/console')
const MAX_BYTES = 300_000

/** The scripts that a file imports by itself, not those that wait for a page. */
function importsOf(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known
  known.add(file)
  const code = readFileSync(join(FOLDER, 'assets', file), 'utf8')
  for (const [, name] of code.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) {
    if (name) importsOf(name, known)
  }
  return known
}

test('the first page loads less than 300 kB of compressed script, and no map', async () => {
  await buildWeb('console')
  const html = readFileSync(join(FOLDER, 'index.html'), 'utf8')
  const named = [...html.matchAll(/(?:src|href)="\.\/assets\/([\w.-]+\.js)"/g)]
  const first = new Set(named.flatMap(([, name = '']) => [...importsOf(name)]))
  expect(first.size).toBeGreaterThan(0)
  const bytes = [...first].map(
    (name) => gzipSync(readFileSync(join(FOLDER, 'assets', name))).length,
  )
  const total = bytes.reduce((sum, size) => sum + size, 0)
  console.log(`first load: ${total} bytes in ${first.size} files`)
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThan(MAX_BYTES)
  expect([...first].filter((name) => /maplibre|terra-draw|map-view|shape-map/.test(name))).toEqual(
    [],
  )
})
