import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import { fastTempFolder } from '../../scripts/postgres/throwaway.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/servers/database.ts'

// The same names, arguments and defaults as pg_cron 1.6 and pg_net 0.20; each only takes notes.
const STAND_INS = {
  pg_cron: `
    create schema cron;
    create table cron.job (jobid bigserial primary key, schedule text not null, command text not null,
      jobname text, username text not null default current_user, unique (jobname, username));
    create table cron.job_run_details (jobid bigint, runid bigserial primary key, command text, status text,
      return_message text, start_time timestamptz, end_time timestamptz);
    create function cron.schedule(job_name text, schedule text, command text) returns bigint
    language sql as $$
      insert into cron.job (jobname, schedule, command) values ($1, $2, $3)
      on conflict (jobname, username) do update set schedule = excluded.schedule, command = excluded.command
      returning jobid
    $$;`,
  pg_net: `
    create schema net;
    create table net.calls (id bigserial primary key, url text, body jsonb, headers jsonb, timeout integer);
    create function net.http_post(url text, body jsonb default '{}', params jsonb default '{}',
      headers jsonb default '{"Content-Type": "application/json"}', timeout_milliseconds integer default 5000)
    returns bigint language sql as $$
      insert into net.calls (url, body, headers, timeout) values ($1, $2, $4, $5) returning id
    $$;`,
}
const VAULT = `
  create schema vault;
  create table vault.decrypted_secrets (id uuid default gen_random_uuid(), name text, decrypted_secret text);`

const SECRET = randomUUID()
const URL = 'https://abcdefghijklmnopqrst.supabase.co/functions/v1/jobs'

let database: TestDatabase
let client: pg.Client
let folder: string | undefined
let cron: string

/** A database that believes to have both extensions, and the Vault. */
beforeEach(async () => {
  await clear()
  cron = await readFile(join(ROOT, 'supabase/cron.sql'), 'utf8')
  folder = await mkdtemp(join(await fastTempFolder(), 'watchpost-extensions-'))
  // Read by the server, which may run as another user.
  await mkdir(join(folder, 'extension'), { mode: 0o755 })
  for (const [name, sql] of Object.entries(STAND_INS)) {
    await writeFile(join(folder, 'extension', `${name}.control`), `default_version = '1'\n`)
    await writeFile(join(folder, 'extension', `${name}--1.sql`), sql)
  }
  await chmod(folder, 0o755)
  database = await createEmptyDatabase()
  client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  await client.query(`set client_min_messages = warning`)
  await client.query(`select set_config('extension_control_path', $1, false)`, [folder])
  await client.query(VAULT)
})
afterAll(clear)

async function clear() {
  await client?.end()
  await database?.drop()
  if (folder) await rm(folder, { recursive: true, force: true })
}

async function rows<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
  return (await client.query<Row>(sql)).rows
}

async function keepSecrets() {
  await client.query(
    'insert into vault.decrypted_secrets (name, decrypted_secret) values ($1, $2), ($3, $4)',
    ['watchpost_jobs_url', URL, 'watchpost_jobs_secret', SECRET],
  )
}

test('every minute the jobs function is called with the secret from the Vault', async () => {
  await keepSecrets()
  await client.query(cron)
  const [job, log] = await rows<{ jobname: string; schedule: string; command: string }>(
    'select jobname, schedule, command from cron.job order by jobid',
  )
  expect(job).toMatchObject({ jobname: 'watchpost-jobs', schedule: '* * * * *' })
  await client.query(job?.command ?? '')
  expect(await rows('select url, body, headers, timeout from net.calls')).toEqual([
    {
      url: URL,
      body: {},
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${SECRET}` },
      timeout: 55_000,
    },
  ])
  expect(log).toMatchObject({ jobname: 'watchpost-cron-log' })
})

test('the secret stands in no schedule', async () => {
  await keepSecrets()
  await client.query(cron)
  expect(JSON.stringify(await rows('select * from cron.job'))).not.toContain(SECRET)
})

test('can be run again, and a new secret takes effect at once', async () => {
  await keepSecrets()
  await client.query(cron)
  await client.query(cron)
  const jobs = await rows<{ command: string }>('select command from cron.job order by jobid')
  expect(jobs).toHaveLength(2)
  await client.query(
    `update vault.decrypted_secrets set decrypted_secret = 'new' where name like '%secret'`,
  )
  await client.query(jobs[0]?.command ?? '')
  expect(await rows(`select headers ->> 'Authorization' as sent from net.calls`)).toEqual([
    { sent: 'Bearer new' },
  ])
})

test('without its secrets it schedules nothing and says what is missing', async () => {
  await expect(client.query(cron)).rejects.toMatchObject({
    message: 'The Vault holds no secret named watchpost_jobs_url, watchpost_jobs_secret',
    hint: expect.stringContaining('Nothing was scheduled'),
  })
  expect(await rows(`select to_regclass('cron.job') as job`)).toEqual([{ job: null }])
})

test('keeps its log for a week', async () => {
  await keepSecrets()
  await client.query(cron)
  await client.query(`insert into cron.job_run_details (jobid, end_time)
    values (1, now() - interval '8 days'), (2, now() - interval '6 days')`)
  const [, log] = await rows<{ command: string }>('select command from cron.job order by jobid')
  await client.query(log?.command ?? '')
  expect(await rows('select jobid from cron.job_run_details')).toEqual([{ jobid: '2' }])
})
