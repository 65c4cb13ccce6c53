import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

const Package = z.object({ dependencies: z.record(z.string(), z.string()) })
const ImportMap = z.strictObject({ imports: z.record(z.string(), z.string()) })

test('the import map pins what package.json pins', async () => {
  const { dependencies } = Package.parse(JSON.parse(await read('package.json')))
  const { imports } = ImportMap.parse(JSON.parse(await read('supabase/functions/deno.json')))
  expect(Object.keys(imports).length).toBeGreaterThan(0)
  for (const [name, pin] of Object.entries(imports)) {
    expect(pin).toBe(`npm:${name}@${dependencies[name]}`)
  }
})

test('the import map knows every package the functions reach, and no other', async () => {
  const { imports } = ImportMap.parse(JSON.parse(await read('supabase/functions/deno.json')))
  const reached = await packagesReached(join(ROOT, 'functions/supabase.ts'))
  expect([...reached].sort()).toEqual(Object.keys(imports).sort())
})

test('config.toml names entrypoint and map of every function', async () => {
  const config = await read('supabase/config.toml')
  const folders = await readdir(join(ROOT, 'supabase/functions'), { withFileTypes: true })
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(names.sort()).toEqual(['api', 'jobs'])
  for (const name of names) {
    const [, part = ''] = config.split(`[functions.${name}]`)
    const [own = ''] = part.split('\n[')
    expect(own).toContain('verify_jwt = false')
    expect(own).toContain(`entrypoint = "./functions/${name}/index.ts"`)
    expect(own).toContain('import_map = "./functions/deno.json"')
  }
})

/** The packages that a module and what it imports load; types are no load. */
async function packagesReached(path: string, seen = new Set<string>()): Promise<Set<string>> {
  const packages = new Set<string>()
  if (seen.has(path)) return packages
  seen.add(path)
  const text = await readFile(path, 'utf8')
  for (const [, is_type, at_start, later] of text.matchAll(
    /^(?:import|export) (type )?(?:\{[^}]*\}|\w+|\* as \w+) from '([^']+)'|await import\('([^']+)'\)/gm,
  )) {
    const from = at_start ?? later ?? ''
    if (is_type || from.startsWith('node:')) continue
    if (from.startsWith('.')) {
      for (const found of await packagesReached(resolve(path, '..', from), seen)) {
        packages.add(found)
      }
    } else {
      packages.add(from.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? from)
    }
  }
  return packages
}
