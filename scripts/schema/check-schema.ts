import { parseArgs } from 'node:util'
import { migrate } from '../postgres/migrate.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import { advisorFindings } from './advisors.ts'
import { changedSinceRelease } from './released.ts'
import { applyTopics, compareSchemas, withClient } from './schema.ts'
import { brokenRules } from './schema-rules.ts'
import { staleTypes, writeTypes } from './types.ts'

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
  },
})

process.exitCode = (await check()) ? 0 : 1

/** Uses two servers, because roles and their rights belong to a server, not to a database. */
async function check(): Promise<boolean> {
  const servers = await Promise.all([startThrowawayPostgres(), startThrowawayPostgres()])
  const [topics, migrated] = servers
  try {
    await Promise.all([applyTopics(topics.adminUrl), migrate(migrated.adminUrl)])
    const { facts, differences } = await compareSchemas(
      { name: 'sql/', url: topics.adminUrl },
      { name: 'migrations', url: migrated.adminUrl },
    )
    const broken = await withClient(migrated.adminUrl, (client) => brokenRules(client))
    if (values.write) await writeTypes(migrated.adminUrl)
    const [findings, stale] = await Promise.all([
      advisorFindings(migrated.adminUrl),
      values.write ? [] : staleTypes(migrated.adminUrl),
    ])

    const changed = changedSinceRelease()
    report('released file(s) changed: restore them, and add a migration or an upgrade', changed)
    report(
      'difference(s) between sql/ and supabase/migrations (npm run migration -- <verb>_<thing>)',
      differences,
    )
    report('generated file(s) out of date (npm run types)', stale)
    report("broken rule(s) of the schema's own", broken)
    report('finding(s) of the Supabase advisors', findings)
    const bad = [changed, differences, broken, findings, stale].flat().length
    if (bad === 0) console.log(`Schema: ${facts} facts equal, all rules kept, no advisor findings`)
    return bad === 0
  } catch (error) {
    console.error(`Schema check: ${error instanceof Error ? error.message : error}`)
    return false
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

function report(what: string, lines: string[]) {
  if (lines.length === 0) return
  console.log(`\n${lines.length} ${what}:`)
  for (const line of lines) console.log(`- ${line}`)
}
