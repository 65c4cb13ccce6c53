import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../postgres/migrate.ts'

type CliResult = { stdout: string; stderr: string }

/** supabase runs Supabase's CLI in this clone; if it fails, it throws the CLI's output. */
export async function supabase(
  args: string[],
  {
    env = {},
    cwd = ROOT,
  }: { env?: Record<string, string | undefined>; cwd?: string | undefined } = {},
): Promise<CliResult> {
  const cli = join(ROOT, 'node_modules/.bin/supabase')
  if (!existsSync(cli)) {
    throw new Error('The Supabase CLI is not installed: sh scripts/setup.sh test')
  }
  const { bare, password } = withoutPassword(args)
  try {
    return await promisify(execFile)(cli, [...bare, '--agent', 'no'], {
      cwd,
      env: { ...process.env, DO_NOT_TRACK: '1', ...password, ...env },
      maxBuffer: 64 * 1024 * 1024,
    })
  } catch (error) {
    // safe: execFile adds both to its error
    const { stdout = '', stderr = '' } = error as Partial<CliResult>
    const said = `${stderr}\n${stdout}`.trim() || String(error)
    // Without a cause: that would repeat the arguments, with the password of a database's URL.
    throw new Error(`supabase ${args.slice(0, 2).join(' ')}: ${said}`)
  }
}

/**
 * All users of a machine can read the arguments of its programs (`ps`), but only the same user can
 * read the environment. Therefore the password of a database's URL is passed in the environment.
 */
function withoutPassword(args: string[]): { bare: string[]; password: { PGPASSWORD?: string } } {
  const password: { PGPASSWORD?: string } = {}
  const bare = args.map((arg) => {
    const [, option = '', address = ''] = /^(--[\w-]+=)(postgres(?:ql)?:.*)$/.exec(arg) ?? []
    if (!address) return arg
    const url = new URL(address)
    if (url.password) password.PGPASSWORD = decodeURIComponent(url.password)
    url.password = ''
    return option + url.href
  })
  return { bare, password }
}

/**
 * Our throwaway servers have no TLS, and the user's own login and settings must not affect them.
 */
export const THROWAWAY_ENV = { PGSSLMODE: 'disable', HOME: tmpdir() }
