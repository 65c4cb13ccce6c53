import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './migrate.ts'

export type Ran = { stdout: string; stderr: string }

/** supabase runs Supabase's CLI in this clone; it throws what the CLI said when that fails. */
export async function supabase(
  args: string[],
  {
    env = {},
    cwd = ROOT,
  }: { env?: Record<string, string | undefined>; cwd?: string | undefined } = {},
): Promise<Ran> {
  const cli = join(ROOT, 'node_modules/.bin/supabase')
  if (!existsSync(cli)) {
    throw new Error('The Supabase CLI is not installed: sh scripts/setup.sh test')
  }
  try {
    return await promisify(execFile)(cli, [...args, '--agent', 'no'], {
      cwd,
      env: { ...process.env, DO_NOT_TRACK: '1', ...env },
      maxBuffer: 64 * 1024 * 1024,
    })
  } catch (error) {
    // safe: execFile adds both to its error
    const { stdout = '', stderr = '' } = error as Partial<Ran>
    const said = `${stderr}\n${stdout}`.trim() || String(error)
    // Not as its cause: that repeats the arguments, with the password of a database's URL.
    throw new Error(`supabase ${args.slice(0, 2).join(' ')}: ${said}`)
  }
}

/** A server of ours speaks no TLS, and nobody's own login or notes matter to it. */
export const ON_A_THROWAWAY = { PGSSLMODE: 'disable', HOME: tmpdir() }
