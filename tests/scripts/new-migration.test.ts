import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import { statementsBetween } from '../../scripts/schema/new-migration.ts'
import { changedSinceRelease, recordRelease } from '../../scripts/schema/released.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let migrated: TestDatabase
let wanted: TestDatabase
let root: string
beforeAll(async () => {
  migrated = await createTestDatabase()
  wanted = await createTestDatabase()
  root = await mkdtemp(join(tmpdir(), 'watchpost-released-'))
  await cp(join(ROOT, 'scripts/schema/released.json'), join(root, 'scripts/schema/released.json'))
  await cp(join(ROOT, 'supabase/migrations'), join(root, 'supabase/migrations'), {
    recursive: true,
  })
  await cp(join(ROOT, 'hub/sql'), join(root, 'hub/sql'), { recursive: true })
})
afterAll(async () => {
  await migrated.drop()
  await wanted.drop()
  await rm(root, { recursive: true })
})

const statements = () => statementsBetween(migrated.adminUrl, wanted.adminUrl)

test('a migration has the functions, triggers and indexes that are new, changed or gone', async () => {
  expect(await statements()).toEqual([])
  await wanted.query(`
    create function private.twice(number integer) returns integer
    language plpgsql immutable set search_path = '' as $$
    begin
      -- A comment of its own.
      return number * 2;
    end
    $$;
    alter function private.twice(integer) owner to watchpost_owner;
    revoke execute on function private.twice(integer) from public;
    grant execute on function private.twice(integer) to authenticated, watchpost_jobs;
    comment on function private.twice(integer) is 'It''s twice the number.';
    create or replace function private.uid() returns uuid
    language plpgsql stable set search_path = '' as $$ begin return null; end $$;
    drop index watchpost.zones_org_id;
    create index zones_label on watchpost.zones (label);
    create function private.nothing() returns trigger
    language plpgsql set search_path = '' as $$ begin return new; end $$;
    alter function private.nothing() owner to watchpost_owner;
    create trigger at_last after update on watchpost.zones
    for each row execute function private.nothing();
  `)
  const written = await statements()
  expect(written).toContain('drop index watchpost.zones_org_id')
  expect(written).toContainEqual(expect.stringContaining('-- A comment of its own.'))
  expect(written).toContain(
    "comment on function private.twice(integer) is 'It''s twice the number.'",
  )
  expect(written).toContain(
    'grant execute on function private.twice(integer) to authenticated, watchpost_jobs',
  )
  await migrated.query(`set role watchpost_owner; ${written.join(';\n')}; reset role`)
  expect(await statements()).toEqual([])
})

test('a function that returns something else is made anew, with its grants', async () => {
  await wanted.query(`
    drop function private.twice(integer);
    create function private.twice(number integer, out doubled bigint) returns bigint
    language sql immutable set search_path = '' as $$ select 2::bigint * number $$;
    alter function private.twice(integer) owner to watchpost_owner;
    revoke execute on function private.twice(integer) from public;
    grant execute on function private.twice(integer) to authenticated;
  `)
  const written = await statements()
  expect(written[0]).toBe('drop function private.twice(integer)')
  expect(written.at(-1)).toBe('grant execute on function private.twice(integer) to authenticated')
  await migrated.query(`set role watchpost_owner; ${written.join(';\n')}; reset role`)
  expect(await statements()).toEqual([])
})

test('a released file that is changed or removed is named', async () => {
  expect(changedSinceRelease(root)).toEqual([])
  const base = 'hub/sql/base/10_projects.sql'
  await writeFile(join(root, base), `${await readFile(join(root, base), 'utf8')}\n`)
  await rm(join(root, 'supabase/migrations/20260101000000_initial.sql'))
  expect(changedSinceRelease(root).sort()).toEqual([
    `${base} was changed`,
    'supabase/migrations/20260101000000_initial.sql was removed',
  ])
})

test('a release adds the files that are new', async () => {
  // Those since the last release.
  recordRelease(root)
  expect(recordRelease(root)).toEqual([])
  const upgrade = 'hub/sql/upgrades/20270101_add_something.sql'
  await mkdir(join(root, 'hub/sql/upgrades'), { recursive: true })
  await writeFile(join(root, upgrade), 'select 1')
  expect(recordRelease(root)).toEqual([upgrade])
  await writeFile(join(root, upgrade), 'select 2')
  expect(changedSinceRelease(root)).toContain(`${upgrade} was changed`)
})
