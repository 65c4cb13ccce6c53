import { z } from 'zod'
import { withClient } from './schema.ts'
import { INLINED_FUNCTIONS } from './schema-rules.ts'
import { supabase, THROWAWAY_ENV } from './supabase-cli.ts'

const Finding = z.object({
  name: z.string(),
  level: z.enum(['INFO', 'WARN', 'ERROR']),
  detail: z.string(),
  metadata: z.object({ schema: z.string().optional(), name: z.string().optional() }).nullish(),
})
const Answer = z.object({ results: z.array(Finding) })

/** Accepted findings, each with its reason; for a whole schema, or only for these objects in it. */
const ACCEPTED: { name: string; schema: string; only?: string[]; reason: string }[] = [
  {
    name: 'function_search_path_mutable',
    schema: 'pgboss',
    reason: 'made and replaced by pg-boss itself; security invoker, and only jobs reach the schema',
  },
  {
    name: 'function_search_path_mutable',
    schema: 'private',
    only: INLINED_FUNCTIONS,
    reason: 'inlined only without one; security invoker, called where the path is empty',
  },
]

/** advisorFindings runs Supabase's own advisors, security and performance, through its CLI. */
export async function advisorFindings(adminUrl: string): Promise<string[]> {
  // Seven of the lints check only what PostgREST would expose.
  await withClient(adminUrl, (client) =>
    client.query(`
      do $$ begin
        execute format('alter database %I set pgrst.db_schemas = %L', current_database(), 'public,watchpost,support');
      end $$`),
  )
  const options = ['--type', 'all', '--level', 'warn', '--fail-on', 'none']
  const { stdout } = await supabase(
    ['db', 'advisors', `--remote=${adminUrl}`, ...options, '--output-format', 'json'],
    { env: THROWAWAY_ENV },
  )
  return Answer.parse(JSON.parse(stdout))
    .results.filter((found) => found.level !== 'INFO' && !isAccepted(found))
    .map((found) => `${found.level} ${found.name}: ${found.detail}`)
}

function isAccepted(found: z.infer<typeof Finding>) {
  return ACCEPTED.some(
    ({ name, schema, only }) =>
      name === found.name &&
      schema === found.metadata?.schema &&
      (!only || only.includes(found.metadata.name ?? '')),
  )
}
