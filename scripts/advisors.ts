import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { ROOT } from './migrate.ts'
import { withClient } from './schema.ts'

const Finding = z.object({
  name: z.string(),
  level: z.enum(['INFO', 'WARN', 'ERROR']),
  detail: z.string(),
  metadata: z.object({ schema: z.string().optional() }).nullish(),
})
const Answer = z.object({ results: z.array(Finding) })

/** Findings in code that is not ours, each with the reason why it may stand. */
const ACCEPTED: { name: string; schema: string; reason: string }[] = [
  {
    name: 'function_search_path_mutable',
    schema: 'pgboss',
    reason: 'made and replaced by pg-boss itself; security invoker, and only jobs reach the schema',
  },
]

/** advisorFindings asks Supabase's own advisors, security and performance, through its CLI. */
export async function advisorFindings(adminUrl: string): Promise<string[]> {
  const cli = join(ROOT, 'node_modules/.bin/supabase')
  if (!existsSync(cli)) {
    throw new Error('The Supabase CLI is not installed: sh scripts/setup.sh test')
  }
  // Seven of the lints look only at what PostgREST would expose.
  await withClient(adminUrl, (client) =>
    client.query(`
      do $$ begin
        execute format('alter database %I set pgrst.db_schemas = %L', current_database(), 'public,watchpost,support');
      end $$`),
  )
  const options = ['--type', 'all', '--level', 'warn', '--fail-on', 'none', '--agent', 'no']
  const { stdout } = await promisify(execFile)(
    cli,
    ['db', 'advisors', `--remote=${adminUrl}`, ...options, '--output-format', 'json'],
    {
      // HOME and the folder: the CLI keeps notes in one and searches the other for a project.
      env: { ...process.env, PGSSLMODE: 'disable', DO_NOT_TRACK: '1', HOME: tmpdir() },
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  return Answer.parse(JSON.parse(stdout))
    .results.filter((found) => found.level !== 'INFO' && !isAccepted(found))
    .map((found) => `${found.level} ${found.name}: ${found.detail}`)
}

function isAccepted(found: z.infer<typeof Finding>) {
  return ACCEPTED.some(
    ({ name, schema }) => name === found.name && schema === found.metadata?.schema,
  )
}
