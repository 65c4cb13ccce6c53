import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOwnedThings, type OwnedThings } from '../../support/attacks/refusals.ts'
import { createService, type Person, type Service } from '../../support/service.ts'

const ACTORS = ['owner', 'admin', 'member', 'stranger', 'reader', 'nobody'] as const
type Actor = (typeof ACTORS)[number]
const REFUSED = '42501'
const NOT_OWNER = 'WP403'

let service: Service
let keys: Record<Actor, string | undefined>
let ids: OwnedThings['ids']
let owner: Person
beforeAll(async () => {
  service = await createService()
  const [admin, member, stranger] = await Promise.all([
    service.person(),
    service.person(),
    service.person(),
  ])
  owner = await service.person()
  const made = await createOwnedThings(service, owner)
  const { query } = service.database
  const org = made.ids.organisation
  for (const [{ user_id }, role] of [
    [admin, 'admin'],
    [member, 'member'],
  ] as const) {
    await query(
      `insert into watchpost.members (org_id, user_id, email, role, status)
      select $1, user_id, email, $3, 'active' from watchpost.accounts where user_id = $2`,
      [org, user_id, role],
    )
  }
  for (const [table, id] of [
    ['zones', made.ids.zone],
    ['channels', made.ids.channel],
    ['alerts', made.ids.alert],
  ]) {
    await query(`update watchpost.${table} set org_id = $1 where id = $2`, [org, id])
  }
  ids = made.ids
  keys = {
    owner: owner.key,
    admin: admin.key,
    member: member.key,
    stranger: stranger.key,
    reader: await service.key(owner, { scopes: ['read'] }),
    nobody: undefined,
  }
})
afterAll(() => service.close())

type Expected = readonly [
  owner: number | string,
  admin: number | string,
  member: number | string,
  stranger: number | string,
  reader: number | string,
  nobody: number | string,
]
const SEEN: Expected = [1, 1, 1, 0, 1, 0]
const MANAGED: Expected = [1, 1, 0, 0, 0, 0]
const UNSHARED: Expected = [1, NOT_OWNER, 0, 0, 0, 0]
const NEVER: Expected = [REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED]
const NO_ROW: Expected = [0, 0, 0, 0, 0, 0]

/** What each actor reaches beside the routes, where only row-level security and grants stand. */
const STATEMENTS: [statement: string, thing: keyof OwnedThings['ids'], expected: Expected][] = [
  ['select id from watchpost.zones where id = $1', 'zone', SEEN],
  [`update watchpost.zones set label = 'Taken' where id = $1`, 'zone', MANAGED],
  ['update watchpost.zones set deleted_at = now() where id = $1', 'zone', MANAGED],
  ['update watchpost.zones set org_id = null where id = $1', 'zone', UNSHARED],
  ['update watchpost.zones set owner_id = private.uid() where id = $1', 'zone', NEVER],
  ['delete from watchpost.zones where id = $1', 'zone', NEVER],
  ['select id from watchpost.channels where id = $1', 'channel', SEEN],
  ['update watchpost.channels set enabled = false where id = $1', 'channel', MANAGED],
  ['update watchpost.channels set deleted_at = now() where id = $1', 'channel', MANAGED],
  ['update watchpost.channels set org_id = null where id = $1', 'channel', UNSHARED],
  ['update watchpost.channels set owner_id = private.uid() where id = $1', 'channel', NEVER],
  ['delete from watchpost.channels where id = $1', 'channel', NEVER],
  ['select id from watchpost.alerts where id = $1', 'alert', SEEN],
  [`update watchpost.alerts set resolved = true where id = $1`, 'alert', [1, 1, 1, 0, 0, 0]],
  [`update watchpost.alerts set reason = 'Mine' where id = $1`, 'alert', NEVER],
  ['delete from watchpost.alerts where id = $1', 'alert', NEVER],
  ['select id from watchpost.members where id = $1', 'member', SEEN],
  [`update watchpost.members set role = 'admin' where id = $1`, 'member', MANAGED],
  ['delete from watchpost.members where id = $1', 'member', MANAGED],
  [
    `update watchpost.members set role = 'member' where org_id = $1 and role = 'owner'`,
    'organisation',
    NO_ROW,
  ],
  [`delete from watchpost.members where org_id = $1 and role = 'owner'`, 'organisation', NO_ROW],
  [`update watchpost.members set status = 'active' where org_id = $1`, 'organisation', NEVER],
  [`update watchpost.organisations set name = 'Mine' where id = $1`, 'organisation', NEVER],
  ['delete from watchpost.audit where target_id = $1::text', 'zone', NEVER],
  [`update watchpost.audit set outcome = 'failure' where target_id = $1::text`, 'zone', NEVER],
  ['select key_hash from watchpost.api_keys where id = $1', 'zone', NEVER],
  ['select key from watchpost.idempotency_keys where resource_id = $1::text', 'zone', NEVER],
  ['update watchpost.accounts set plan = $1::text', 'zone', NEVER],
]

/** The rows as their owner reads them. */
async function readBack(): Promise<unknown> {
  const paths = [
    `/zones/${ids.zone}`,
    `/channels/${ids.channel}`,
    `/alerts/${ids.alert}`,
    `/orgs/${ids.organisation}/members`,
  ]
  const answers = await Promise.all(
    paths.map((path) => service.request('GET', `/api/v1${path}`, owner)),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  return answers.map(({ body }) => body)
}

describe.each(STATEMENTS)('%s', (statement, thing, expected) => {
  test(`reaches ${ACTORS.map((actor, i) => `${actor} ${expected[i]}`).join(', ')}`, async () => {
    const before = await readBack()
    const reached: (number | string)[] = []
    for (const [index, actor] of ACTORS.entries()) {
      // What is forbidden is really tried; what is allowed is undone.
      const end = expected[index] === 1 ? 'rollback' : 'commit'
      reached.push(await service.queryAs(keys[actor], statement, [ids[thing]], end))
    }
    expect(reached).toEqual(expected)
    expect(await readBack()).toEqual(before)
  })
})

test('a caller makes nothing in another’s name or in an organisation they are not in', async () => {
  const insert = `insert into watchpost.channels (org_id, kind, target_sealed, target_masked)
    values ($1, 'webhook', 'x', 'x')`
  const reached = await Promise.all(
    ACTORS.map((actor) => service.queryAs(keys[actor], insert, [ids.organisation], 'rollback')),
  )
  expect(reached).toEqual([1, 1, REFUSED, REFUSED, REFUSED, REFUSED])
  const foreign = `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
    values ($1, 'webhook', 'x', 'x')`
  expect(await service.queryAs(keys.stranger, foreign, [owner.user_id], 'commit')).toBe(REFUSED)
})

test('an invite cannot be made for somebody else, as the owner, or already accepted', async () => {
  const insert = (role: string, invitedBy: string) =>
    `insert into watchpost.members (org_id, email, role, invited_by, invite_hash)
    values ($1, 'x@watchpost.test', '${role}', ${invitedBy}, sha256('x'))`
  const by = (actor: Actor, statement: string) =>
    service.queryAs(keys[actor], statement, [ids.organisation], 'rollback')
  expect(await by('admin', insert('admin', 'private.uid()'))).toBe(1)
  expect(await by('admin', insert('owner', 'private.uid()'))).toBe(REFUSED)
  expect(await by('admin', insert('member', 'null'))).toBe(REFUSED)
  expect(await by('member', insert('member', 'private.uid()'))).toBe(REFUSED)
  expect(await by('stranger', insert('member', 'private.uid()'))).toBe(REFUSED)
})
