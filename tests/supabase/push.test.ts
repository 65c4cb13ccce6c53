import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, runFile } from '../../scripts/postgres/migrate.ts'
import type { StartedPostgres } from '../../scripts/postgres/postgres.ts'
import { startThrowawayPostgres } from '../../scripts/postgres/throwaway.ts'
import { advisorFindings } from '../../scripts/schema/advisors.ts'
import { applyTopics, compareSchemas, withClient } from '../../scripts/schema/schema.ts'
import { supabase, THROWAWAY_ENV } from '../../scripts/schema/supabase-cli.ts'

// Servers of their own, because roles belong to a server.
let described: StartedPostgres
let pushed: StartedPostgres

beforeAll(async () => {
  ;[described, pushed] = await Promise.all([startThrowawayPostgres(), startThrowawayPostgres()])
  await applyTopics(described.adminUrl)
  // As empty as a new project: only what Supabase brings.
  await withClient(pushed.adminUrl, async (client) => {
    await client.query('set client_min_messages = warning')
    await runFile(client, join(ROOT, 'sql/local/00_supabase.sql'))
  })
})
afterAll(() => Promise.all([described?.stop(), pushed?.stop()]))

const push = (...args: string[]) =>
  supabase(['db', 'push', `--remote=${pushed.adminUrl}`, ...args], { env: THROWAWAY_ENV })

describe('supabase db push into an empty project', () => {
  test('brings the schema that sql/ describes, and only once', async () => {
    await push('--yes')
    const { facts, differences } = await compareSchemas(
      { name: 'sql/', url: described.adminUrl },
      { name: 'db push', url: pushed.adminUrl },
    )
    expect(facts).toBeGreaterThan(1500)
    expect(differences).toEqual([])
    const again = await push('--dry-run', '--output-format', 'json')
    expect(JSON.parse(again.stdout)).toMatchObject({ upToDate: true, migrations: [] })
  })

  test('leaves nothing for the advisors to say', async () => {
    expect(await advisorFindings(pushed.adminUrl)).toEqual([])
  })

  test('seeds only where it is asked to', async () => {
    const accounts = () =>
      withClient(pushed.adminUrl, async (client) => {
        return (await client.query('select email from watchpost.accounts')).rows
      })
    expect(await accounts()).toEqual([])
    await push('--include-seed', '--yes')
    expect(await accounts()).toEqual([{ email: 'dev@watchpost.localhost' }])
  })
})

test('no schema of ours is served by PostgREST, and nobody signs in unproved', async () => {
  const config = await readFile(join(ROOT, 'supabase/config.toml'), 'utf8')
  const section = (name: string) => config.split(`\n[${name}]\n`)[1]?.split('\n[')[0] ?? ''
  expect(section('api')).toMatch(/^schemas = \["public"\]$/m)
  expect(section('auth')).toMatch(/^enable_anonymous_sign_ins = false$/m)
  expect(section('auth.email')).toMatch(/^enable_confirmations = true$/m)
})
