import { expect, test } from 'vitest'
import { AccountExport } from '../../../../shared/schemas/account.ts'
import { createOwnedThings } from '../../../support/attacks/refusals.ts'
import { parsed, type Signed } from '../../../support/service.ts'
import { ask, service, useService } from './account-scene.ts'

useService()

/** More than the export reads at a time. */
const MANY = 502

/** Copies a row so often, with pairs of the same moment. */
async function multiply(table: string, id: string, over = ''): Promise<void> {
  const [columns] = await service.database.query<{ names: string }>(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
    where table_schema = 'watchpost' and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
    [table],
  )
  await service.database.query(
    `begin; set local session_replication_role = replica;
    insert into watchpost.${table} (${columns?.names})
    select ${columns?.names}
    from (
      select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
        'created_at', date_trunc('milliseconds', t.created_at) - n / 2 * interval '1 second' ${over}))).*
      from watchpost.${table} t, generate_series(1, ${MANY}) n
      where t.id = '${id}'
    ) copies; commit`,
  )
}

const idsOf = async (statement: string, { user_id }: Signed) =>
  (
    await service.database.query<{ id: string }>(
      `select x.id from ${statement} order by x.created_at desc, x.id desc`,
      [user_id],
    )
  ).map(({ id }) => id)

test('each list of the export is whole, newest first, also beyond what is read at a time', async () => {
  const [me, other] = [await service.signed(), await service.signed()]
  const { ids } = await createOwnedThings(service, me)
  await createOwnedThings(service, other)
  const tested = await service.request('POST', `/api/v1/channels/${ids.channel}/test`, me)
  expect(tested.status).toBeLessThan(300)
  const one = async (statement: string) => (await idsOf(statement, me))[0] ?? ''
  const unique = `sha256(gen_random_uuid()::text::bytea)`
  await multiply(
    'api_keys',
    await one('watchpost.api_keys x where x.user_id = $1'),
    `, 'key_hash', ${unique}`,
  )
  await multiply('zones', ids.zone)
  await multiply('feed_links', ids.feed_link, `, 'token_hash', ${unique}`)
  await multiply('channels', ids.channel)
  const DELIVERIES =
    'watchpost.deliveries x where x.channel_id in (select id from watchpost.channels where owner_id = $1)'
  await multiply('deliveries', await one(DELIVERIES))

  const file = parsed(await ask(me, 'GET', '/export'), 200, AccountExport)
  for (const [list, statement] of [
    ['keys', 'watchpost.api_keys x where x.user_id = $1'],
    ['zones', 'watchpost.zones x where x.owner_id = $1'],
    ['feed_links', 'watchpost.feed_links x where x.owner_id = $1'],
    ['channels', 'watchpost.channels x where x.owner_id = $1'],
    ['deliveries', DELIVERIES],
  ] as const) {
    const expected = await idsOf(statement, me)
    expect(expected.length, list).toBeGreaterThan(MANY)
    expect(
      file[list].map(({ id }) => id),
      list,
    ).toEqual(expected)
  }
})

test('an export that fails on the way is cut off, so that nobody takes it for whole, and is in the log', async () => {
  const me = await service.signed()
  await service.database.query('revoke select on watchpost.deliveries from authenticated')
  try {
    service.lines.length = 0
    await expect(ask(me, 'GET', '/export')).rejects.toThrow()
    await expect
      .poll(() => service.lines)
      .toContainEqual(
        expect.objectContaining({
          ...{ msg: 'export failed', request_id: expect.any(String) },
          error: expect.stringContaining('not allowed'),
        }),
      )
  } finally {
    await service.database.query('grant select on watchpost.deliveries to authenticated')
  }
})
