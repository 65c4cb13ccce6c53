import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addMember,
  asOperator,
  changePlan,
  createAccount,
  createLink,
  createOrganisation,
  deleteAccount,
  mintKey,
  removeMember,
  revokeKey,
} from '../../scripts/postgres/accounts.ts'
import { discard, redrive } from '../../scripts/postgres/dead-jobs.ts'
import { createService, type Service } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

/** What an operator does stands in the log of whose it is; nobody is its actor. */
const VERBS: Record<
  string,
  (email: string) => Promise<{ work: Work; action: string } | undefined>
> = {
  'account create': async () => ({
    work: (client) =>
      createAccount(client, {
        email: `${randomUUID()}@watchpost.test`,
        plan: 'pro',
        scopes: ['read'],
        key_name: 'First',
      }),
    action: 'account.created',
  }),
  'account plan': async (email) => ({
    work: (client) => changePlan(client, { email, plan: 'enterprise' }),
    action: 'account.plan_changed',
  }),
  'account link': async (email) => ({
    work: (client) => createLink(client, { email }),
    action: 'sign_in_link.created',
  }),
  'key mint': async (email) => ({
    work: (client) => mintKey(client, { email, scopes: ['read'], name: 'New', expires_at: null }),
    action: 'key.created',
  }),
  'key revoke': async (email) => {
    const [row] = await service.database.query<{ id: string }>(
      'select k.id from watchpost.api_keys k join watchpost.accounts a using (user_id) where a.email = $1',
      [email],
    )
    return { work: (client) => revokeKey(client, row?.id ?? ''), action: 'key.revoked' }
  },
  'org create': async (owner) => ({
    work: (client) => createOrganisation(client, { name: 'New', owner: { email: owner } }),
    action: 'organisation.created',
  }),
  'org add': async (email) => {
    const org_id = await service.organisation(await service.account())
    return {
      work: (client) => addMember(client, { org_id, email, role: 'member' }),
      action: 'member.created',
    }
  },
  'account delete': async (email) => ({
    work: (client) => deleteAccount(client, { email, confirm: email }),
    action: 'account.deleted',
  }),
  'org remove': async (email) => {
    const org_id = await service.organisation(await service.account())
    await asOperator(service.database.adminUrl, (client) =>
      addMember(client, { org_id, email, role: 'member' }),
    )
    return { work: (client) => removeMember(client, { org_id, email }), action: 'member.deleted' }
  },
  // They only read.
  'account list': async () => undefined,
  'key list': async () => undefined,
  'org list': async () => undefined,
  'org members': async () => undefined,
  'feeds status': async () => undefined,
  'queue status': async () => undefined,
  'queue dead': async () => undefined,
  // The key is nobody's: the public key list says when it was retired.
  'feeds pause': async () => undefined,
  'feeds resume': async () => undefined,
  'evidence rotate': async () => undefined,
  'evidence withdraw': async () => undefined,
  // Of nobody's account: it stands among the acts of operators alone.
  'operator link': async () => undefined,
  'queue discard': async (email) => {
    const job = await deadJob(email)
    return {
      work: (client) => discard(client, { job, reason: 'Nobody waits for it.' }),
      action: 'queue.discarded',
    }
  },
  'queue redrive': async (email) => {
    await deadJob(email)
    return { work: (client) => redrive(client, { limit: 10 }), action: 'queue.redriven' }
  },
}
type Work = Parameters<typeof asOperator>[1]

/** A job that was to send a message of somebody and has failed for good. */
async function deadJob(email: string): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(
    `with channel as (
        insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
        select user_id, 'ntfy', 'x', 'x' from watchpost.accounts where email = $1 returning id
      ), delivery as (
        insert into watchpost.deliveries (channel_id, type, status)
        select id, 'channel.test', 'queued' from channel returning id
      )
      insert into pgboss.job (name, data, policy, source_name)
      select 'dead', jsonb_build_object('delivery_id', id), 'standard', 'deliver' from delivery returning id`,
    [email],
  )
  return row?.id ?? ''
}

describe('what an operator does stands in the log of whose it is', () => {
  test('every verb of the CLI is one of these', async () => {
    const source = await readFile(new URL('../../scripts/admin.ts', import.meta.url), 'utf8')
    const verbs = [...source.matchAll(/^ {2}'(\w+ \w+)': verb\(/gm)].map(([, verb]) => verb)
    expect(verbs.sort()).toEqual(Object.keys(VERBS).sort())
  })

  test.each(Object.keys(VERBS))('%s', async (verb) => {
    const { email } = await service.person()
    const act = await VERBS[verb]?.(email)
    if (!act)
      return expect(verb).toMatch(
        / (status|list|members|dead)$|^evidence (rotate|withdraw)$|^feeds (pause|resume)$|^operator link$/,
      )
    const from = new Date()
    await asOperator(service.database.adminUrl, act.work, { name: 'Ayşe', via: 'command' })
    const rows = await service.database.query(
      `select actor_id, key_id, outcome, target_id, details from watchpost.audit where action = $1 and at >= $2::timestamptz - interval '1 s'
        and actor_id is null order by seq desc limit 1`,
      [act.action, from.toISOString()],
    )
    expect(rows).toMatchObject([
      { actor_id: null, key_id: null, outcome: 'success', target_id: expect.any(String) },
    ])
    expect(rows[0]?.details).toMatchObject({ via: expect.any(String), operator: 'Ayşe' })
    const acts = await service.database.query(
      'select operator, via from watchpost.operator_acts where action = $1 and at >= $2',
      [act.action, from.toISOString()],
    )
    expect(acts).toEqual([{ operator: 'Ayşe', via: 'command' }])
    expect(JSON.stringify(rows)).not.toMatch(/wp_live_|eyJ/)
  })
})
