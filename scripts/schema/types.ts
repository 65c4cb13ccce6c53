import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../postgres/migrate.ts'
import { supabase, THROWAWAY_ENV } from './supabase-cli.ts'

const FILE = join(ROOT, 'supabase/types.gen.ts')

/** generateTypes returns the types of our schemas from Supabase's generator, formatted. */
async function generateTypes(adminUrl: string): Promise<string> {
  const { stdout } = await supabase(
    ['gen', 'types', `--remote=${adminUrl}`, '--schema', 'watchpost,support'],
    { env: THROWAWAY_ENV },
  )
  return format(stdout)
}

export async function writeTypes(adminUrl: string): Promise<string> {
  await writeFile(FILE, await generateTypes(adminUrl))
  return FILE
}

/** staleTypes returns an empty list if the committed types match the database. */
export async function staleTypes(adminUrl: string): Promise<string[]> {
  const [fresh, kept] = await Promise.all([
    generateTypes(adminUrl),
    readFile(FILE, 'utf8').catch(() => ''),
  ])
  return fresh === kept ? [] : ['supabase/types.gen.ts is not what the schema says']
}

/** Formats with Biome, because the generator does not. */
function format(text: string): Promise<string> {
  const biome = join(ROOT, 'node_modules/.bin/biome')
  return new Promise((resolve, reject) => {
    const child = execFile(
      biome,
      ['format', '--stdin-file-path=scripts/schema/types.ts'],
      { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    )
    child.stdin?.end(text)
  })
}
