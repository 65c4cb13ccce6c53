import { test } from 'vitest'
import type { Case } from '../questions.ts'
import { agree, by, id, useQuestions } from './scene.ts'

/** What the policies alone hold back, whatever the grants give and the routes ask. Answers are in golden/. */
useQuestions()

const ACTORS = ['owner', 'admin', 'member', 'stranger', 'reader'] as const
const AFFECTED = `create function pg_temp.affected(p_statement text) returns text language plpgsql as $$
  declare n integer;
  begin
    execute p_statement;
    get diagnostics n = row_count;
    return n;
  exception when others then
    return sqlstate;
  end $$;`

/** How many rows a statement changes for everybody who might try it, or the code of its refusal. */
const tries = (about: string, table: string, statement: string, prepared = ''): Case[] =>
  ACTORS.map((actor) => [
    `${about}: ${actor}`,
    `select pg_temp.affected($statement$${statement}$statement$)`,
    `${AFFECTED} ${prepared} grant all on watchpost.${table} to authenticated;
    ${actor === 'reader' ? by('owner', { scopes: ['read'] }) : by(actor)} set local role authenticated;`,
  ])
const me = '(select private.uid())'

test('of members and invites', async () => {
  const insert = (role: string, status: string, who: string, from = me, org = 'team') =>
    `insert into watchpost.members (org_id, user_id, email, role, status, invite_hash, invited_by) values (${id(org)}, ${who}, 'new@x', '${role}', '${status}', ${status === 'active' ? 'null' : "sha256('n')"}, ${from})`
  const set = (set: string, where: string) => `update watchpost.members set ${set} where ${where}`
  const mine = `user_id = ${me} and org_id = ${id('team')}`
  await agree('policies-members', [
    ...tries('invite', 'members', insert('admin', 'invited', 'null')),
    ...tries(
      'invite in the name of another',
      'members',
      insert('member', 'invited', 'null', id('owner')),
    ),
    ...tries('invite an owner', 'members', insert('owner', 'invited', 'null')),
    ...tries('join without an invite', 'members', insert('member', 'active', me, me, 'theirs')),
    ...tries('put somebody into their own', 'members', insert('member', 'active', id('stranger'))),
    ...tries('change a role', 'members', set("role = 'admin'", `user_id = ${id('member')}`)),
    ...tries(
      'make themselves the owner',
      'members',
      set("role = 'owner'", mine),
      `update watchpost.members set role = 'member' where role = 'owner' and org_id = ${id('team')};`,
    ),
    ...tries(
      'take the role of the owner',
      'members',
      set("role = 'member'", `role = 'owner' and org_id = ${id('team')}`),
    ),
    ...tries(
      'move a member elsewhere',
      'members',
      set(`org_id = ${id('theirs')}`, `user_id = ${id('member')}`),
    ),
    ...tries(
      'remove a member',
      'members',
      `delete from watchpost.members where user_id = ${id('member')}`,
    ),
    ...tries(
      'remove the owner',
      'members',
      `delete from watchpost.members where role = 'owner' and org_id = ${id('team')}`,
    ),
  ])
})

test('of zones and channels', async () => {
  const zone = (owner: string, org: string) =>
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes) values (${owner}, ${org}, 'new', 1, 2, '{(3,2),(1,0)}')`
  const channel = (owner: string, org: string) =>
    `insert into watchpost.channels (owner_id, org_id, kind, target_sealed, target_masked) values (${owner}, ${org}, 'webhook', 'x', 'x')`
  const things = [
    ['zones', zone, 'color', "'#000000'"],
    ['channels', channel, 'language', "'tr'"],
  ] as const
  await agree(
    'policies-things',
    things.flatMap(([table, made, column, value]) => {
      const set = (name: string, more = `${column} = ${value}`) =>
        `update watchpost.${table} set ${more} where label = '${name}'`
      return [
        ...tries(`${table}: made`, table, made(me, 'null')),
        ...tries(`${table}: made for another`, table, made(id('admin'), 'null')),
        ...tries(`${table}: made in the organisation`, table, made(me, id('team'))),
        ...tries(`${table}: a private one changed`, table, set('private')),
        ...tries(`${table}: a shared one changed`, table, set('shared')),
        ...tries(
          `${table}: moved to a strange organisation`,
          table,
          set('private', `org_id = ${id('theirs')}`),
        ),
        ...tries(
          `${table}: a shared one of a member changed`,
          table,
          set('shared'),
          `update watchpost.${table} set owner_id = ${id('member')} where label = 'shared';`,
        ),
      ]
    }),
  )
})

test('of feed links, alerts and what is read', async () => {
  const link = (zone: string, owner = me) =>
    `insert into watchpost.feed_links (zone_id, owner_id, token_hash) select z.id, ${owner}, sha256('n') from (values (pg_temp.zone('${zone}'))) as z (id)`
  const zones = `create function pg_temp.zone(text) returns uuid language sql security definer as 'select id from watchpost.zones where label = $1';`
  const gone = 'update watchpost.zones set deleted_at = now();'
  const replace = (zone: string) =>
    `update watchpost.feed_links set token_hash = sha256('n') where label = '${zone}'`
  const revoke = (zone: string) => `delete from watchpost.feed_links where label = '${zone}'`
  const note = (name: string) =>
    `update watchpost.alerts set note = 'x' where zone_name = '${name}'`
  const read = (table: string, column: string) => `select ${column} from watchpost.${table}`
  await agree('policies-others', [
    ...['private', 'shared'].flatMap((name) => [
      ...tries(`link made, ${name}`, 'feed_links', link(name), zones),
      ...tries(`link replaced, ${name}`, 'feed_links', replace(name)),
      ...tries(`link revoked, ${name}`, 'feed_links', revoke(name)),
      ...tries(`alert noted, ${name}`, 'alerts', note(name)),
    ]),
    ...tries('link made for another', 'feed_links', link('shared', id('member')), zones),
    ...tries('link of a deleted zone made', 'feed_links', link('private'), zones + gone),
    ...tries('link of a deleted zone replaced', 'feed_links', replace('private'), gone),
    ...tries('link of a deleted zone revoked', 'feed_links', revoke('private'), gone),
    ...tries('alert of a drill noted', 'alerts', note('drill')),
    ...(
      [
        ['accounts', 'email'],
        ['api_keys', 'name'],
        ['key_usage', 'key_id'],
        ['audit', 'action'],
        ['evidence', 'record'],
        ['alert_steps', 'step'],
        ['zone_shapes', 'bytes'],
        ['zone_versions', 'version'],
        ['visibility_changes', 'id'],
        ['deliveries', 'last_error'],
        ['delivery_attempts', 'error'],
        ['organisations', 'name'],
      ] as const
    ).flatMap(([table, column]) => tries(`${table} read`, table, read(table, column))),
  ])
})

test('of channels that come into an organisation, and leave it', async () => {
  const owned = (who: string, org = 'null') =>
    `update watchpost.channels set owner_id = ${id(who)}, org_id = ${org} where label = 'private';`
  const put = (org: string) =>
    `update watchpost.channels set org_id = ${org} where label = 'private'`
  const people = ['owner', 'admin', 'member', 'stranger']
  await agree('policies-channels', [
    ...people.flatMap((who) =>
      tries(`one of ${who} is shared`, 'channels', put(id('team')), owned(who)),
    ),
    ...people.flatMap((who) =>
      tries(`one of ${who} is shared no longer`, 'channels', put('null'), owned(who, id('team'))),
    ),
  ])
})
