import { test } from 'vitest'
import type { Case } from '../questions.ts'
import { agree, by, id, outcome, questions, REAL, useQuestions } from './scene.ts'

/** What is left of a person who was deleted, and where, and what others are told of it. Answers are in golden/. */
useQuestions()

const erase = (who: string) => `${REAL} select private.erase_account(${id(who)});`
const invite = (email: string, from: string, org = 'team') =>
  `insert into watchpost.members (org_id, email, role, invited_by, invite_hash, invite_expires_at)
  values (${id(org)}, '${email}', 'member', ${id(from)}, sha256('${email}${org}'), now() + interval '1 day');`

test('who has an organisation after its owner', async () => {
  const roles = `select m.user_id, m.role from watchpost.members m where m.org_id = ${id('team')}`
  const joined = (who: string, days: number) =>
    `update watchpost.members set joined_at = now() - interval '${days} days' where user_id = ${id(who)};`
  const admins = "update watchpost.members set role = 'admin' where role = 'member';"
  await agree('erase-heirs', [
    [
      'an admin before a member who came first',
      roles,
      `${joined('admin', 1)}${joined('member', 2)}${erase('owner')}`,
    ],
    [
      'of two admins the one who came first',
      roles,
      `${admins}${joined('admin', 1)}${joined('member', 2)}${erase('owner')}`,
    ],
    [
      'of two admins the other one',
      roles,
      `${admins}${joined('admin', 2)}${joined('member', 1)}${erase('owner')}`,
    ],
    [
      'a member where there is no admin',
      roles,
      `delete from watchpost.members where role = 'admin'; ${erase('owner')}`,
    ],
    [
      'nobody where only invites are left',
      roles,
      `delete from watchpost.members where user_id in (${id('admin')}, ${id('member')}); ${erase('owner')}`,
    ],
    ['nobody: it is deleted', 'select o.name from watchpost.organisations o', erase('stranger')],
    ['its owner, when it is a member who goes', roles, erase('member')],
    ['its owner, when it is an admin who goes', roles, erase('admin')],
    [
      'one that they do not own stays',
      'select o.name from watchpost.organisations o',
      erase('member'),
    ],
  ])
})

test('what becomes of invites to them and from them', async () => {
  const left = `select m.email, m.status from watchpost.members m where m.email like '%@x'`
  const address = (who: string, email: string, confirmed = 'now()') =>
    `update watchpost.accounts set email = '${email}', confirmed_at = ${confirmed} where user_id = ${id(who)};`
  const me = address('member', 'Me@x')
  const invites = invite('me@X'.toLowerCase(), 'stranger', 'theirs') + invite('other@x', 'owner')
  const accepted = `insert into watchpost.members (org_id, user_id, email, role, status) values (${id('theirs')}, ${id('admin')}, 'me@x', 'member', 'active');`
  await agree('erase-invites', [
    ['to their address, in any case of letters', left, me + invites + erase('member')],
    [
      'to an address that they never confirmed',
      left,
      address('member', 'me@x', 'null') + invites + erase('member'),
    ],
    [
      'to an address that another person has as well',
      left,
      me + address('admin', 'ME@x') + invites + erase('member'),
    ],
    ['accepted by somebody else', left, me + accepted + erase('member')],
    ['sent by them', left, invite('new@x', 'admin') + erase('admin')],
  ])
})

test('another id stands for them in the history of what was shared', async () => {
  const { admin, owner } = questions.world.ids
  const versions = `select z.label, v.actor_id, v.changes, v.definition ->> 'owner_id' from watchpost.zone_versions v join watchpost.zones z on z.id = v.zone_id where v.version = 1 and z.label <> 'foreign'`
  const version = (set: string, name = 'shared') =>
    `update watchpost.zone_versions set ${set} where zone_id = (select id from watchpost.zones where label = '${name}');`
  const hasLeft = `delete from watchpost.members where user_id = ${id('admin')};`
  const acted = version(`actor_id = ${id('admin')}`)
  await agree('erase-history', [
    ['who changed it', versions, acted + erase('admin')],
    ['who changed it and has left since', versions, acted + hasLeft + erase('admin')],
    [
      'whose it was',
      versions,
      version(`definition = jsonb_set(definition, '{owner_id}', '"${admin}"')`) + erase('admin'),
    ],
    [
      'what changed of it',
      versions,
      version(`changes = '{"owner_id": ["${admin}", "${owner}"]}'`) + erase('admin'),
    ],
    ['of what others did', versions, version(`actor_id = ${id('owner')}`) + erase('admin')],
    [
      'what the account was',
      `select s.user_id, s.plan from watchpost.account_states s`,
      erase('admin'),
    ],
  ])
})

test('what the logs say of them', async () => {
  const { admin, owner, stranger } = questions.world.ids
  const empty = 'delete from watchpost.audit; delete from watchpost.operator_acts;'
  const act = (
    account: string | undefined,
    actor: string | undefined,
    details = '{}',
    target = 'z',
  ) =>
    `insert into watchpost.audit (account_id, actor_id, action, target_type, target_id, ip, user_agent, details)
    values ('${account}', '${actor}', 'x.y', 'x', '${target}', '192.0.2.9', 'agent', '${details}');`
  const logs = `select a.account_id, a.actor_id, a.target_id, a.ip, a.user_agent, a.details from watchpost.audit a where a.action = 'x.y'`
  const named = `{"label": "home", "changed": {"owner_id": ["${admin}", "${owner}"]}, "by": "${admin}"}`
  const operated = `select o.target_id, o.details from watchpost.operator_acts o where o.action = 'x.y'`
  const operator = (target: string | undefined, details: string) =>
    `insert into watchpost.operator_acts (operator, via, action, target_type, target_id, details) values ('op', 'page', 'x.y', 'x', '${target}', '${details}');`
  await agree('erase-logs', [
    [
      'their own acts in their own log',
      logs,
      empty + act(admin, admin, named, admin) + erase('admin'),
    ],
    ['acts of others in their log', logs, empty + act(admin, owner, named, admin) + erase('admin')],
    [
      'their acts in the logs of others',
      logs,
      empty + act(owner, admin, named, admin) + erase('admin'),
    ],
    [
      'acts of others that name them, in logs of their organisation',
      logs,
      empty + act(owner, owner, named, admin) + erase('admin'),
    ],
    [
      'acts of others on others',
      logs,
      empty + act(owner, owner, `{"by": "${stranger}"}`, stranger) + erase('admin'),
    ],
    [
      'acts of operators on them',
      operated,
      empty + operator(admin, '{"label": "home", "plan": "pro"}') + erase('admin'),
    ],
    ['acts of operators that name them', operated, empty + operator('z', named) + erase('admin')],
    [
      'acts of operators on others',
      operated,
      empty + operator(stranger, '{"label": "home"}') + erase('admin'),
    ],
  ])
})

test('nothing that is kept has their id', async () => {
  const { admin } = questions.world.ids
  const found = `select t.name, pg_temp.found(t.name) from (
    select c.relname as name from pg_class c where c.relnamespace = 'watchpost'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition) t
    where pg_temp.found(t.name) > 0`
  const search = `create function pg_temp.found(p_table text) returns integer language plpgsql as $$
    declare n integer;
    begin
      execute format('select count(*) from watchpost.%I t where to_jsonb(t)::text like %L', p_table, '%${admin}%') into n;
      return n;
    end $$;`
  const kept = `set local session_replication_role = replica; delete from watchpost.rate_limits;`
  const shares = `update watchpost.zones set owner_id = ${id('admin')} where label = 'shared'; update watchpost.channels set owner_id = ${id('admin')} where label = 'shared';`
  const cases: [string, string][] = [
    ['by an operator', `${REAL}${shares}${erase('admin')}`],
    [
      'after they left',
      `${REAL}${shares} delete from watchpost.members where user_id = ${id('admin')}; ${erase('admin')}`,
    ],
    [
      'after another one sent their invite again',
      `${REAL}${invite('new@x', 'admin')}${by('owner')} update watchpost.members set invited_by = ${id('owner')} where email = 'new@x'; select set_config('request.jwt.claims', '', true); ${erase('admin')}`,
    ],
  ]
  await agree(
    'erase-left',
    cases.map(([about, before]): Case => [about, found, `${search}${before}${kept}`]),
  )
})

test('who may delete their account, and what stays where auth.users cannot be changed', async () => {
  const erased = `select count(*)::integer from watchpost.erased_accounts`
  const user = `insert into auth.users (id, email) values (${id('member')}, 'a@b');`
  await agree('erase-account', [
    outcome('an owner', 'select private.delete_account()', '', by('owner')),
    outcome('an admin', 'select private.delete_account()', '', by('admin')),
    outcome('by a key', 'select private.delete_account()', '', by('admin', { signed_in: false })),
    [
      'without a row there, the id is remembered',
      erased,
      `${by('member')} select private.delete_account()`,
    ],
    ['with one it is not', erased, `${user}${by('member')} select private.delete_account()`],
  ])
  const keys = `select k.name, round(extract(epoch from k.revoked_at - now())) from watchpost.api_keys k`
  const revoke = (name: string) =>
    `select private.revoke_key((select id from watchpost.api_keys where name = '${name}'))`
  const before = `update watchpost.api_keys set revoked_at = now() - interval '1 hour' where name = 'private';`
  await agree('revoke-key', [
    ['their own', keys, `${by('owner')} ${revoke('private')}`],
    ['once more', keys, `${before}${by('owner')} ${revoke('private')}`],
    outcome('that of somebody else', revoke('foreign'), '', by('owner')),
    outcome('by a key', revoke('private'), '', by('owner', { signed_in: false })),
    outcome(
      'by what says nothing of it',
      revoke('private'),
      '',
      by('owner', { signed_in: undefined }),
    ),
  ])
})

test('what followers are told of when somebody joins, leaves, shares or deletes', async () => {
  const told = `select n.name || ' ' || v.thing, count(*) from watchpost.visibility_changes v
    join (values ('stranger', ${id('stranger')}), ('member', ${id('member')}), ('owner', ${id('owner')}), ('team', ${id('team')})) as n (name, id)
      on n.id = v.audience group by 1`
  const change = (about: string, statement: string): Case => [
    about,
    told,
    `delete from watchpost.visibility_changes; ${REAL} ${statement}`,
  ]
  const join = (status: string, hash: string) =>
    `insert into watchpost.members (org_id, user_id, email, role, status, invite_hash)
    values (${id('team')}, ${id('stranger')}, 'x@x', 'member', '${status}', ${hash})`
  const share = (table: string, to: string, where: string) =>
    `update watchpost.${table} set org_id = ${to} where ${where}`
  await agree('erase-followed', [
    change('joined', join('active', 'null')),
    change('left', `delete from watchpost.members where user_id = ${id('member')}`),
    change('an invite withdrawn', `delete from watchpost.members where status = 'invited'`),
    change('a zone shared', share('zones', id('team'), `label = 'private'`)),
    change('a zone shared no longer', share('zones', 'null', `label = 'shared'`)),
    change('an alert deleted', `delete from watchpost.alerts where zone_name = 'shared'`),
    change(
      'an alert of their own deleted',
      `delete from watchpost.alerts where zone_name = 'private'`,
    ),
    change('a drill deleted', `delete from watchpost.drills`),
    change('an alert changed', `update watchpost.alerts set note = 'x'`),
    change('an event deleted', `delete from watchpost.events where id = 'test:shared'`),
    change(
      'an event of their own deleted',
      `delete from watchpost.events where owner_id is not null and org_id is null`,
    ),
    change(
      'the events of an organisation deleted',
      `delete from watchpost.events where org_id is not null`,
    ),
    change(
      'an account deleted that has events and alerts',
      `delete from watchpost.accounts where user_id = ${id('owner')}`,
    ),
    change(
      'an account deleted',
      `delete from watchpost.accounts where user_id = ${id('stranger')}`,
    ),
  ])
})

test('when an account is on again, and what is known of it from the first', async () => {
  const matched = `select array(select z.label from pgboss.job j join watchpost.zones z on z.id::text = j.data ->> 'zone_id' where j.name = 'match_zone' order by 1)`
  const states = `select s.plan, s.banned_until is not null, cardinality(s.org_ids) from watchpost.account_states s where s.user_id = ${id('owner')} order by s.valid_from desc limit 1`
  const set = (change: string) =>
    `update watchpost.accounts set ${change} where user_id = ${id('owner')};`
  const change = (about: string, was: string, becomes: string): Case[] => [
    [about, matched, `delete from pgboss.job; ${was} ${REAL} ${becomes}`],
    [`${about}: its state`, states, `${was} ${REAL} ${becomes}`],
  ]
  const [free, pro] = [set("plan = 'free'"), set("plan = 'pro'")]
  const [banned, allowed] = [set(`banned_until = 'infinity'`), set('banned_until = null')]
  await agree('erase-again', [
    ...change('it pays again', free, pro),
    ...change('it pays more', '', set("plan = 'enterprise'")),
    ...change('it pays no more', '', free),
    ...change('it is banned', '', banned),
    ...change('it is banned no more', banned, allowed),
    ...change('it pays again, but is banned', free + banned, pro),
    ...change('it is banned no more, but does not pay', free + banned, allowed),
    ...change(
      'it pays again, with a deleted zone',
      `${free} update watchpost.zones set deleted_at = now() where label = 'private';`,
      pro,
    ),
    [
      'a new one',
      `select s.plan, s.org_ids from watchpost.account_states s where s.user_id = '00000000-0000-4000-8000-000000000003'`,
      `${REAL} insert into watchpost.accounts (user_id, email) values ('00000000-0000-4000-8000-000000000003', 'new@x')`,
    ],
    [
      'one that signs up and changes its address, after others were deleted',
      `select a.email from watchpost.accounts a where a.user_id = '00000000-0000-4000-8000-000000000004'`,
      `insert into watchpost.erased_accounts (user_id) values (gen_random_uuid()); ${REAL}
      insert into auth.users (id, email) values ('00000000-0000-4000-8000-000000000004', 'first@x');
      update auth.users set email = 'second@x'`,
    ],
  ])
})
