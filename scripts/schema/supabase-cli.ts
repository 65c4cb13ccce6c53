import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../postgres/migrate.ts'

type CliResult = { stdout: string; stderr: string }

/** supabase runs Supabase's CLI in this clone; it throws what the CLI said when that fails. */
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
    // Not as its cause: that repeats the arguments, with the password of a database's URL.
    throw new Error(`supabase ${args.slice(0, 2).join(' ')}: ${said}`)
  }
}

/**
 * Everybody on a machine may read the arguments of its programs (`ps`), the environment only their
 * user: the password of a database's URL goes there, from where the CLI's driver takes it.
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

/** A server of ours speaks no TLS, and nobody's own login or notes matter to it. */
export const THROWAWAY_ENV = { PGSSLMODE: 'disable', HOME: tmpdir() }
