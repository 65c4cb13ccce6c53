import { afterAll, beforeAll, test } from 'vitest'
import { type Case, createQuestions } from './questions.ts'

/**
 * What stands in whose log after an act. The cases that belong together are in one file of golden/.
 */
let questions: Awaited<ReturnType<typeof createQuestions>>
beforeAll(async () => {
  questions = await createQuestions()
})
afterAll(() => questions?.close())

const logged = `select a.account_id, a.actor_id, a.action, a.target_type, a.outcome,
    a.details - 'via', a.details ? 'via' from watchpost.audit a`
const idOf = (table: string, name: string) =>
  `(select id from watchpost.${table} where label = '${name}')`
const claims = (who: string) =>
  `set_config('request.jwt.claims', '{"sub": "${questions.world.ids[who]}", "ip": "192.0.2.9", "user_agent": "agent"}', true)`
/** An act with the triggers that follow it, after what is prepared without them; the log is empty before. */
const act = (who: string | null, statement: string, prepared = '') =>
  `${prepared}; delete from watchpost.audit; set local session_replication_role = origin;
  ${who ? `select ${claims(who)};` : ''} ${statement}`
const cases = (acts: [string, string | null, string, string?][]): Case[] =>
  acts.map(([about, who, ...more]) => [about, logged, act(who, ...more)])
const agree = (name: string, given: Case[]) => questions.agree(name, given)

test('of zones and channels: their owner, their organisation before and after, and who acted', async () => {
  const { admin, team, theirs } = questions.world.ids
  const zone = (set: string, name = 'shared') =>
    `update watchpost.zones set ${set} where label = '${name}'`
  const channel = (set: string, name = 'private') =>
    `update watchpost.channels set ${set} where label = '${name}'`
  await agree('audit-things', [
    ...cases([
      ['a private zone by its owner', 'owner', zone("color = '#000000'", 'private')],
      ['a shared one by its owner', 'owner', zone("color = '#000000'")],
      ['a shared one by an admin', 'admin', zone("color = '#000000'")],
      ['a shared one by a member', 'member', zone("color = '#000000'")],
      ['a private one by the service', null, zone("color = '#000000'", 'private')],
      [
        'one that is made',
        'member',
        `insert into watchpost.zones (owner_id, label, lat, lon, boxes) values ('${questions.world.ids.member}', 'made', 1, 2, '{(3,2),(1,0)}')`,
      ],
      [
        'shared, and renamed with it',
        'owner',
        zone(`org_id = '${team}', label = 'renamed'`, 'private'),
      ],
      ['unshared, and renamed with it', 'owner', zone("org_id = null, label = 'renamed'")],
      ['moved to another organisation', null, zone(`org_id = '${theirs}'`)],
      [
        'moved between organisations that have invited admins',
        null,
        zone(`org_id = '${theirs}'`),
        `update watchpost.members set role = 'admin' where status = 'invited'`,
      ],
      [
        'moved between organisations of one admin',
        null,
        zone(`org_id = '${theirs}', label = 'renamed'`),
        `insert into watchpost.members (org_id, user_id, email, role, status) values ('${theirs}', '${admin}', 'admin@x', 'admin', 'active')`,
      ],
      ['passed on to another owner', null, zone(`owner_id = '${admin}'`)],
      [
        'a private one passed on to somebody else',
        null,
        zone(`owner_id = '${questions.world.ids.stranger}'`, 'private'),
      ],
      ['the same again', 'owner', zone('color = color')],
      [
        'boxes and counts, which nobody sees',
        null,
        `${zone("boxes = '{(9,9),(0,0)}'")}; ${channel("failures = 3, paused_until = now(), failing_reason = 'x', failing_since = now(), host = 'x'")}`,
      ],
      ['deleted, and changed with it', 'owner', zone("deleted_at = now(), color = '#000000'")],
      ['restored', 'owner', zone('deleted_at = null'), zone('deleted_at = now()')],
      ['a shape', 'owner', zone(`polygon = '{"type": "Polygon"}'`)],
      [
        'where a channel sends',
        'owner',
        channel("target_sealed = 'other', target_masked = 'o…', config_sealed = 'x'"),
      ],
      ['a new secret', 'owner', channel("signing_secret_sealed = 'other'")],
    ]),
  ])
})

test('of alerts: resolved, reopened, acknowledged or noted', async () => {
  const alert = (set: string) => `update watchpost.alerts set ${set} where zone_name = 'private'`
  const seen = "seen_at = now(), seen_via = 'api'"
  await agree('audit-alerts', [
    ...cases([
      [
        'resolved',
        'owner',
        alert(`resolved = true, resolved_at = now(), resolved_via = 'api', ${seen}`),
      ],
      [
        'resolved with a note',
        'owner',
        alert("resolved = true, resolved_at = now(), note = 'private words'"),
      ],
      [
        'reopened',
        'owner',
        alert('resolved = false, resolved_at = null'),
        alert('resolved = true, resolved_at = now()'),
      ],
      ['acknowledged', 'owner', alert(seen)],
      [
        'not acknowledged any more, because it got worse',
        null,
        alert('seen_at = null, seen_via = null'),
        alert(seen),
      ],
      ['acknowledged once more', 'owner', alert("seen_at = now() + interval '1 s'"), alert(seen)],
      ['noted', 'owner', alert("note = 'private words'")],
      ['changed by the service', null, alert("status = 'failed', severity = 1")],
    ]),
  ])
})

test('of people, keys, organisations and links', async () => {
  const { owner, admin, member, team } = questions.world.ids
  const members = (set: string, who = member) =>
    `update watchpost.members set ${set} where user_id = '${who}'`
  const link = (name = 'shared') => `where label = '${name}'`
  const made = `insert into watchpost.feed_links (zone_id, owner_id, label, token_hash)
    values (${idOf('zones', 'shared')}, '${admin}', 'made', sha256('made'))`
  await agree('audit-people', [
    ...cases([
      ['a plan', null, `update watchpost.accounts set plan = 'free' where user_id = '${owner}'`],
      [
        'an address that was changed',
        null,
        `update watchpost.accounts set email = 'x@y' where user_id = '${owner}'`,
      ],
      [
        'a key revoked',
        'owner',
        "update watchpost.api_keys set revoked_at = now() where name = 'private'",
      ],
      [
        'a key that an operator ends sooner',
        'owner',
        "update watchpost.api_keys set expires_at = now() where name = 'private'",
      ],
      [
        'a key made',
        'owner',
        `insert into watchpost.api_keys (user_id, name, prefix, key_hash, scopes) values ('${owner}', 'made', 'wp', sha256('made'), '{read}')`,
      ],
      [
        'an invite',
        'admin',
        `insert into watchpost.members (org_id, email, role, invited_by, invite_hash, invite_expires_at)
        values ('${team}', 'new@team', 'admin', '${admin}', sha256('new'), now())`,
      ],
      ['a role', 'owner', members("role = 'admin'")],
      ['an admin who becomes a member', 'owner', members("role = 'member'", admin)],
      [
        'somebody who leaves',
        'member',
        `delete from watchpost.members where user_id = '${member}'`,
      ],
      [
        'an invite withdrawn',
        'owner',
        `delete from watchpost.members where email = 'invited@team'`,
      ],
      [
        'an organisation renamed',
        'owner',
        `update watchpost.organisations set name = 'new' where id = '${team}'`,
      ],
      [
        'an organisation deleted',
        'owner',
        `delete from watchpost.organisations where id = '${team}'`,
      ],
      ['a link made by an admin', 'admin', made],
      [
        'a link replaced',
        'admin',
        `update watchpost.feed_links set token_hash = sha256('new') ${link()}`,
      ],
      ['a link revoked', 'owner', `delete from watchpost.feed_links ${link('made')}`, made],
      [
        'a link revoked whose maker is no admin any more',
        'owner',
        `delete from watchpost.feed_links ${link('made')}`,
        `${made}; ${members("role = 'member'", admin)}`,
      ],
      [
        'a link to a zone of a member',
        'admin',
        made,
        `update watchpost.zones set owner_id = '${member}' ${link()}`,
      ],
      ['a link that goes with its zone', null, `delete from watchpost.zones ${link()}`],
      [
        'a link that goes with its maker',
        null,
        `delete from watchpost.accounts where user_id = '${admin}'`,
        made,
      ],
      [
        'a link to sign in',
        null,
        `insert into watchpost.sign_in_links (token_hash, user_id, expires_at) values (sha256('x'), '${owner}', now())`,
      ],
      [
        'a link to sign in that is used',
        null,
        `update watchpost.sign_in_links set expires_at = now() + interval '1 s'`,
        `insert into watchpost.sign_in_links (token_hash, user_id, expires_at) values (sha256('x'), '${owner}', now())`,
      ],
    ]),
  ])
})

test('refusals are counted by account, key, code, route and minute', async () => {
  const { owner, stranger } = questions.world.ids
  const key = '00000000-0000-4000-8000-000000000001'
  const refuse = ({ who = owner, by = key, code = 'a', route = 'GET /' } = {}) =>
    `select private.record_refusal('${who}', '${by}', '${code}', '${route}', '{"ip": "192.0.2.9"}');`
  const counted = `select a.account_id, a.actor_id, a.outcome, a.target_id, a.ip, a.details from watchpost.audit a`
  const none = 'delete from watchpost.audit;'
  const earlier = (time: string) =>
    `update watchpost.audit set request_id = md5(concat_ws('|', account_id, key_id, details ->> 'code', target_id,
      date_trunc('minute', now() - interval '${time}')))::uuid;`
  await agree('audit-refusals', [
    ['twice the same', counted, none + refuse() + refuse()],
    ['of two accounts', counted, none + refuse() + refuse({ who: stranger })],
    ['of two keys', counted, none + refuse() + refuse({ by: key.replace('1', '2') })],
    ['of two codes', counted, none + refuse() + refuse({ code: 'b' })],
    ['of two routes', counted, none + refuse() + refuse({ route: 'PUT /' })],
    ['a minute later', counted, none + refuse() + earlier('1 minute') + refuse()],
    ['within the minute', counted, none + refuse() + earlier('0 s') + refuse()],
  ])
})

test('who is told of an act that is not theirs', async () => {
  const { owner, admin } = questions.world.ids
  const told = `select a.account_id, a.actor_id, a.key_id, a.request_id, a.ip, a.user_agent from watchpost.audit a`
  const record = (accounts: string, isForActor = true) =>
    `delete from watchpost.audit; select private.record_audit('x.y', 'x', 'z', ${accounts}, '{}', ${isForActor});`
  const both = `array['${owner}', '${admin}', '${owner}']::uuid[]`
  await agree('audit-told', [
    ['by the service', told, record(both)],
    ['by one of them', told, `select ${claims('owner')}; ${record(both)}`],
    [
      'by somebody else, who has it in their log',
      told,
      `select ${claims('member')}; ${record(both)}`,
    ],
    [
      'by somebody who has it there already',
      told,
      `select ${claims('owner')}; ${record(both, false)}`,
    ],
    ['nobody', told, record("'{}'")],
  ])
})
