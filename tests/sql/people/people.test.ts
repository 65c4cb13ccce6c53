import { test } from 'vitest'
import type { Case } from '../questions.ts'
import { agree, by, id, outcome, questions, REAL, useQuestions } from './scene.ts'

/** What happens to people, and to what is theirs, when they come, change and go. Answers are in golden/. */
useQuestions()

const invites = (from: string, ...names: string[]) =>
  names
    .map(
      (
        name,
      ) => `insert into watchpost.members (org_id, email, role, invited_by, invite_hash, invite_expires_at)
      values (${id('team')}, '${name}@x', 'member', ${id(from)}, sha256('${name}'), now() + interval '1 day');`,
    )
    .join('')
const members = (set: string, who: string) =>
  `update watchpost.members set ${set} where user_id = ${id(who)} and org_id = ${id('team')};`
const leave = (who: string) =>
  `delete from watchpost.members where user_id = ${id(who)} and org_id = ${id('team')};`
/** A member shares a zone and a channel, and keeps one of each. */
const shares = (who: string, chosen = 'null') => {
  const orgs = [id('team'), 'null']
  const channels = orgs.map(
    (
      org,
    ) => `insert into watchpost.channels (owner_id, org_id, kind, label, target_sealed, target_masked)
      values (${id(who)}, ${org}, 'webhook', '${who}', 'x', 'x');`,
  )
  const zones = orgs.map(
    (org) => `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes, channel_ids)
      values (${id(who)}, ${org}, '${who}', 1, 2, '{(3,2),(1,0)}', ${chosen});`,
  )
  return [...channels, ...zones].join('')
}
const things = `select x.what, x.label, x.owner_id, x.org_id from (
  select 'zone' as what, label, owner_id, org_id from watchpost.zones
  union all select 'channel', label, owner_id, org_id from watchpost.channels) x where x.label not in ('private', 'foreign')`

test('what a member shared when they leave, and what they are told', async () => {
  const mine = `array(select id from watchpost.channels where label = 'admin' and org_id is null)`
  const both = `array(select id from watchpost.channels where label = 'admin')`
  const lost = `select a.account_id, a.action, jsonb_array_length(a.details -> 'channel_ids') from watchpost.audit a where a.action = 'zone.channels_lost'`
  const removed = (who: string, asked: string) =>
    `select private.remove_member(m.id) from watchpost.members m where m.user_id = ${id(who)} and ${asked}`
  const count = (who: string, org = 'team') =>
    `select s.zones, s.channels from private.count_shared(${id(org)}, ${id(who)}) s`
  const gone = shares('admin').replaceAll("'admin', 1", "'gone', 1")
  const deleted = `update watchpost.zones set deleted_at = now() where label = 'gone'; update watchpost.channels set deleted_at = now() where label = 'admin' and org_id is null;`
  await agree('people-leaving', [
    ['an admin leaves', things, `${shares('admin')}${REAL}${leave('admin')}`],
    ['another one stays', things, `${shares('admin')}${shares('member')}${REAL}${leave('member')}`],
    [
      'the organisation is deleted',
      things,
      `${shares('admin')}${REAL} delete from watchpost.organisations where id = ${id('team')}`,
    ],
    [
      'the organisation is deleted by its owner',
      things,
      `${shares('admin')}${by('owner')} delete from watchpost.organisations where id = ${id('team')}`,
    ],
    [
      'the organisation is deleted, with its owner last',
      things,
      `${shares('admin')} update watchpost.members set created_at = now() where role = 'owner';
      ${REAL} delete from watchpost.organisations where id = ${id('team')}`,
    ],
    [
      'a zone loses the channels that they kept',
      lost,
      `${shares('admin', both)}${REAL}${leave('admin')}`,
    ],
    ['a zone loses no channel', lost, `${shares('admin')}${REAL}${leave('admin')}`],
    [
      'a deleted zone loses them',
      lost,
      `${shares('admin', mine)} update watchpost.zones set deleted_at = now(); ${REAL}${leave('admin')}`,
    ],
    ['how much they share', count('admin'), `${shares('admin')}${by('owner')}`],
    [
      'how much, without what is deleted',
      count('admin'),
      `${shares('admin')}${gone}${deleted} update watchpost.channels set deleted_at = now(); ${by('owner')}`,
    ],
    ['how much, asked by a stranger', count('admin'), `${shares('admin')}${by('stranger')}`],
    [
      'removed: what passed on',
      removed('admin', 'true'),
      `${shares('admin')}${gone}${deleted}${by('owner')}`,
    ],
    ['removed: nobody', `select private.remove_member(gen_random_uuid())`, by('owner')],
  ])
})

test('invites end with the role of whoever sent them', async () => {
  const left = `select m.email, m.status from watchpost.members m where m.org_id = ${id('team')} and m.email like '%@x'`
  const joined = `update watchpost.members set status = 'active', user_id = ${id('stranger')}, invite_hash = null where email = 'b@x';`
  const sent = `${invites('admin', 'a', 'b')}${joined}${invites('owner', 'c')}`
  const elsewhere = `insert into watchpost.members (org_id, user_id, email, role, status) values (${id('theirs')}, ${id('admin')}, 'z@y', 'admin', 'active');`
  await agree('people-invites', [
    ['an admin becomes a member', left, `${sent}${REAL}${members("role = 'member'", 'admin')}`],
    ['an admin leaves', left, `${sent}${REAL}${leave('admin')}`],
    [
      'an admin becomes the owner',
      left,
      `${sent} delete from watchpost.members where role = 'owner'; ${REAL}${members("role = 'owner'", 'admin')}`,
    ],
    [
      'an admin of another organisation leaves that',
      left,
      `${sent}${elsewhere}${REAL} delete from watchpost.members where email = 'z@y'`,
    ],
  ])

  const person = (set: string) =>
    `update watchpost.accounts set ${set} where user_id = ${id('stranger')};`
  const open = `${invites('owner', 'A', 'b')} update watchpost.accounts set confirmed_at = now(), email = 'a@X' where user_id = ${id('stranger')};`
  const listed = `select array(select i.email from private.my_invites() i)`
  const accept = (by: string) => `select private.accept_invite(${by})`
  const idOf = `null, (select id from watchpost.members where email = 'A@x')`
  const expired = `update watchpost.members set invite_expires_at = now() where email = 'A@x';`
  const older = `insert into watchpost.organisations (id, name) values ('00000000-0000-4000-8000-000000000009', 'x');
    insert into watchpost.members (org_id, email, role, invite_hash, invite_expires_at, created_at)
    values ('00000000-0000-4000-8000-000000000009', 'a@x', 'admin', sha256('older'), now() + interval '1 day', now() - interval '1 day');`
  const me = by('stranger')
  const after = `select m.email, m.user_id, m.status, m.invite_hash is null, m.invite_expires_at is null, m.joined_at = now() from watchpost.members m where m.email = 'A@x'`
  await agree('people-accepting', [
    ['the newest invite first, in any case of letters', listed, `${open}${older}${me}`],
    ['not one that has expired', listed, `${open}${expired}${me}`],
    [
      'none for an address that is not confirmed',
      listed,
      `${open}${person('confirmed_at = null')}${me}`,
    ],
    [
      'not one that was accepted',
      listed,
      `${open} update watchpost.members set status = 'active', user_id = ${id('stranger')}, invite_hash = null where email = 'A@x'; ${me}`,
    ],
    outcome('accepted by its token', accept("sha256('A'), null"), open, me),
    outcome('accepted by its id', accept(idOf), open, me),
    outcome('that of another address by its token', accept("sha256('b'), null"), open, me),
    outcome(
      'that of another address by its id',
      accept(`null, (select id from watchpost.members where email = 'b@x')`),
      open,
      me,
    ),
    outcome('one that has expired', accept("sha256('A'), null"), open + expired, me),
    outcome(
      'by somebody unconfirmed',
      accept("sha256('A'), null"),
      open + person('confirmed_at = null'),
      me,
    ),
    outcome(
      'by somebody unconfirmed, by its id',
      accept(idOf),
      open + person('confirmed_at = null'),
      me,
    ),
    outcome('by a key', accept("sha256('A'), null"), open, by('stranger', { signed_in: false })),
    outcome(
      'by somebody who is a member',
      accept("sha256('A'), null"),
      `${open} insert into watchpost.members (org_id, user_id, email, role, status) values (${id('team')}, ${id('stranger')}, 'q@y', 'member', 'active')`,
      me,
    ),
    ['what becomes of it', after, `${open}${me} ${accept("sha256('A'), null")}`],
    outcome('accepted twice', `${accept("sha256('A'), null")}; ${accept(idOf)}`, open, me),
  ])
})

test('what members may do with their organisation', async () => {
  const acts: [string, (org: string) => string][] = [
    ['rename', (org) => `select private.rename_org(${org}, 'new')`],
    ['leave', (org) => `select private.leave_org(${org})`],
    ['transfer', (org) => `select private.transfer_org(${org}, ${id('member')})`],
    ['transfer to a stranger', (org) => `select private.transfer_org(${org}, ${id('stranger')})`],
    ['delete', (org) => `select private.delete_org(${org})`],
  ]
  const roles = `select m.user_id, m.role from watchpost.members m where m.org_id = ${id('team')} and m.user_id is not null`
  const renamed = `select o.name, o.updated_at = now() from watchpost.organisations o where o.id = ${id('team')}`
  await agree('people-organisation', [
    ...acts.flatMap(([what, act]) =>
      ['owner', 'admin', 'member', 'stranger'].map(
        (who): Case => outcome(`${what}: ${who}`, act(id('team')), '', by(who)),
      ),
    ),
    [
      'after a transfer',
      roles,
      `${by('owner')} select private.transfer_org(${id('team')}, ${id('member')})`,
    ],
    [
      'after a transfer to themselves',
      roles,
      `${by('owner')} select private.transfer_org(${id('team')}, ${id('owner')})`,
    ],
    ['after leaving', roles, `${by('admin')} select private.leave_org(${id('team')})`],
    ['a new name', renamed, `${by('admin')} select private.rename_org(${id('team')}, 'new')`],
    [
      'the same name',
      renamed,
      `update watchpost.organisations set updated_at = 'epoch'; ${by('admin')} select private.rename_org(${id('team')}, name) from watchpost.organisations where id = ${id('team')}`,
    ],
    ...['rename', 'delete'].map((what): Case => {
      const act = acts.find(([name]) => name === what)?.[1] ?? String
      return outcome(`${what}: by a key`, act(id('team')), '', by('owner', { signed_in: false }))
    }),
  ])
})

test('what needs the second factor', async () => {
  const due = by('owner', { second_factor_due: true })
  await agree('people-factor', [
    outcome(
      'a key',
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes) values (${id('owner')}, 'wp', sha256('n'), '{read}')`,
      '',
      due,
    ),
    outcome(
      'revoking one',
      `update watchpost.api_keys set revoked_at = now() where user_id = ${id('owner')}`,
      '',
      due,
    ),
    outcome(
      'an invite',
      `insert into watchpost.members (org_id, email, role, invite_hash) values (${id('team')}, 'a@x', 'member', sha256('n'))`,
      '',
      due,
    ),
    outcome('a role', members("role = 'admin'", 'member'), '', due),
    outcome('removing a member', leave('member'), '', due),
    outcome(
      'deleting an organisation',
      `delete from watchpost.organisations where id = ${id('theirs')}`,
      'delete from watchpost.members',
      due,
    ),
    outcome(
      'deleting the account',
      `delete from watchpost.accounts where user_id = ${id('owner')}`,
      'delete from watchpost.members',
      due,
    ),
    outcome(
      'any of it with that factor',
      leave('member'),
      '',
      by('owner', { second_factor_due: false }),
    ),
  ])
})

test('an account follows the person who signs up, and stays away once it is deleted', async () => {
  const who = '00000000-0000-4000-8000-000000000007'
  const account = `select a.email, a.confirmed_at is not null, a.banned_until is not null, a.plan, a.updated_at = 'epoch' from watchpost.accounts a where a.user_id = '${who}'`
  const sign = (email: string, more = '') =>
    `insert into auth.users (id, email, email_confirmed_at${more && ', is_anonymous'}) values ('${who}', ${email}, now()${more});`
  const change = (set: string) => `update auth.users set ${set} where id = '${who}';`
  const erased = `insert into watchpost.erased_accounts (user_id) values ('${who}');`
  const early = `${sign("'a@b'")}`
  const made = `insert into watchpost.accounts (user_id, email, confirmed_at, updated_at) values ('${who}', 'a@b', now(), 'epoch');`
  const ensure = `${REAL} select private.ensure_account('${who}')`
  await agree('people-accounts', [
    ['signs up', account, REAL + sign("'a@b'")],
    ['anonymously', account, REAL + sign("'a@b'", ', true')],
    ['without an address', account, REAL + sign('null')],
    ['has another address', account, `${early}${made}${REAL}${change("email = 'c@d'")}`],
    [
      'confirms it',
      account,
      `${early}${made} update watchpost.accounts set confirmed_at = null; ${REAL}${change("email_confirmed_at = now() - interval '1 s'")}`,
    ],
    [
      'is no longer anonymous',
      account,
      `${sign("'a@b'", ', true')}${made}${REAL}${change('is_anonymous = false')}`,
    ],
    ['becomes anonymous', account, `${early}${made}${REAL}${change('is_anonymous = true')}`],
    ['is banned', account, `${early}${made}${REAL}${change("banned_until = 'infinity'")}`],
    ['the same again', account, `${early}${made}${REAL}${change('email = email')}`],
    ['is deleted softly', account, `${early}${made}${REAL}${change('deleted_at = now()')}`],
    ['is deleted', account, `${early}${made}${REAL} delete from auth.users where id = '${who}'`],
    [
      'changes after its account was deleted',
      account,
      `${early}${erased}${REAL}${change("email = 'c@d'")}`,
    ],
    ['signs up anew under an id that was deleted', account, `${erased}${REAL}${sign("'a@b'")}`],
    [
      'is deleted at last: nothing is left of it',
      `select count(*)::integer from watchpost.erased_accounts`,
      `${early}${erased}${REAL} delete from auth.users where id = '${who}'`,
    ],
    ['was there before: gets one', account, early + ensure],
    ['was there before, anonymous', account, sign("'a@b'", ', true') + ensure],
    [
      'was there before, deleted softly',
      account,
      `${early}${change('deleted_at = now()')}${ensure}`,
    ],
    ['was there before, and deleted its account', account, early + erased + ensure],
    ['is known already', account, early + made + ensure],
  ])
})

test('what is remembered of an account, and which zones go on when it may act again', async () => {
  const states = `select s.plan, s.banned_until is not null,
    array(select o.name from watchpost.organisations o where o.id = any(s.org_ids) order by 1),
    s.org_ids = array(select o.id from unnest(s.org_ids) as o (id) order by 1), s.valid_from = now() from watchpost.account_states s where s.user_id = ${id('owner')}`
  const account = (set: string) =>
    `update watchpost.accounts set ${set} where user_id = ${id('owner')};`
  const jobs = `select count(*)::integer from pgboss.job where name = 'match_zone'`
  const none = "delete from pgboss.job where name = 'match_zone';"
  const paused = account("plan = 'free'")
  const banned = account("banned_until = 'infinity'")
  const later = `update watchpost.account_states set valid_from = now() + interval '1 hour' where user_id = ${id('owner')};`
  const heard = (at: string) =>
    `select s.valid_from - now() = interval '${at}' from watchpost.account_states s where s.user_id = ${id('owner')}`
  await agree('people-states', [
    ['another plan', states, `${REAL}${account("plan = 'free'")}`],
    [
      'a ban for ever',
      `select max(s.banned_until) = '9999-12-31 00:00:00+00' from watchpost.account_states s where s.user_id = ${id('owner')}`,
      `${REAL}${banned}`,
    ],
    [
      'the same again',
      states,
      `${REAL}${account("plan = 'free'")}${account("plan = 'pro'")}${account("plan = 'pro'")}`,
    ],
    [
      'joins another organisation',
      states,
      `${REAL} insert into watchpost.members (org_id, user_id, email, role, status) values (${id('theirs')}, ${id('owner')}, 'o@x', 'member', 'active')`,
    ],
    ['leaves', states, `${REAL}${leave('owner')}`],
    ['an invite changes nothing', states, `${REAL}${invites('owner', 'a')}`],
    [
      'a time that is later than the last one',
      heard('1 hour 0.000001 s'),
      `${later}${REAL}${paused}`,
    ],
    ['may act again after a pause', jobs, `${none}${paused}${REAL}${account("plan = 'pro'")}`],
    ['may act again after a ban', jobs, `${none}${banned}${REAL}${account('banned_until = null')}`],
    ['is paused', jobs, `${none}${REAL}${paused}`],
    ['is banned', jobs, `${none}${REAL}${banned}`],
    [
      'is banned, and paid for',
      jobs,
      `${none}${paused}${REAL}${account("plan = 'pro', banned_until = 'infinity'")}`,
    ],
    [
      'is banned no longer, but not paid for',
      jobs,
      `${none}${paused}${banned}${REAL}${account('banned_until = null')}`,
    ],
    ['has a better plan', jobs, `${none}${REAL}${account("plan = 'enterprise'")}`],
    [
      'with deleted zones',
      jobs,
      `${none}${paused} update watchpost.zones set deleted_at = now(); ${REAL}${account("plan = 'pro'")}`,
    ],
  ])
  const seen = (who: string) =>
    `select array(select s.user_id from private.owner_states(z.id) s) from watchpost.zones z where z.label = 'shared' and set_config('request.jwt.claims', '{"sub": "${questions.world.ids[who]}"}', true) is not null`
  await agree(
    'people-owners',
    ['owner', 'member', 'stranger'].map((who): Case => [who, seen(who)]),
  )
})
