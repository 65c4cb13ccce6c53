import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../../functions/db.ts'
import { freezeSettled } from '../../../functions/jobs/evidence.ts'
import { createSeal } from '../../../functions/seal.ts'
import { EvidenceFile } from '../../../shared/evidence/evidence.ts'
import { checkEvidence } from '../../../shared/evidence/evidence-check.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { quake } from '../../support/jobs.ts'
import { parsed, sendResult } from '../../support/service.ts'
import {
  evidenceOf,
  fixture,
  freeze,
  get,
  keys,
  patch,
  type Raised,
  raised,
  useFixture,
} from './evidence-scene.ts'

useFixture()

/** As if the hour between two records were over. */
const anHourLater = (alert: string) =>
  fixture.query(
    `with e as (update watchpost.evidence set frozen_at = frozen_at - interval '1 hour' where alert_id = $1)
    update watchpost.evidence_due set look_at = now() where alert_id = $1`,
    [alert],
  )

describe('the evidence of an alert', () => {
  test('is preliminary until the alert settles, then signed, and its key is public', async () => {
    const made = await raised()
    await freeze()
    const before = await evidenceOf(made)
    expect(before).toMatchObject({
      evidence: { state: 'preliminary', because: null, number: 1 },
      signature: null,
    })
    await patch(made, { resolved: true, note: 'All is well' })
    expect((await evidenceOf(made)).signature).toBeNull()
    await freeze()
    const { evidence, text, headers } = await evidenceOf(made)
    expect(headers.get('content-disposition')).toContain(`evidence-${made.alert}.json`)
    expect(evidence).toMatchObject({
      ...{ state: 'final', because: 'settled', number: 1 },
      alert: { id: made.alert, resolved: true, note: 'All is well', resolved_via: 'api' },
      decisions: [{ zone_version: 1, link: null }],
      zone_versions: [{ version: 1, definition: { radius_km: 50, lat: made.here.lat } }],
      revisions: [{ revision: 1, lat: made.here.lat, severity: 60 }],
      deliveries: [
        {
          ...{ id: made.delivery, channel_kind: 'webhook', status: 'succeeded' },
          attempts: [{ attempt: 1, outcome: 'ok', status_code: 200 }],
        },
      ],
      audit: [{ actor_id: made.person.user_id, action: 'alert.resolved', outcome: 'success' }],
      omitted: { revisions: 0, footprints: 0 },
    })
    expect(evidence.decisions[0]?.checks.map(({ name }) => name)).toContain('severity')
    const published = await keys()
    expect(await checkEvidence(text, published)).toMatchObject({ ok: true })
    expect(JSON.stringify(published)).not.toMatch(/"d"|private|sealed/)
    // Frozen: the same bytes each time.
    expect((await evidenceOf(made)).text).toBe(text)
    expect((await evidenceOf(made, '?record=1')).text).toBe(text)
    await freeze()
    expect(
      await fixture.query('select number from watchpost.evidence where alert_id = $1', [
        made.alert,
      ]),
    ).toHaveLength(1)
  })

  test('names no target, secret, label or address', async () => {
    const made = await raised(() => sendResult(500, 'SECRET-ANSWER'))
    await fixture.query(`update watchpost.channels set label = 'SECRET-LABEL' where id = $1`, [
      made.channel,
    ])
    await fixture.retryNow(made)
    await patch(made, { resolved: true })
    await freeze()
    const { text } = await evidenceOf(made)
    const secrets = [
      'hooks.example.com',
      made.secret,
      'SECRET-',
      made.person.email,
      made.person.key,
      'sealed',
      'user_agent',
    ]
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  test('waits for messages on their way, and is looked at again', async () => {
    const made = await raised(() => sendResult(503))
    await patch(made, { resolved: true })
    await freeze()
    expect((await evidenceOf(made)).signature).toBeNull()
    await fixture.retryNow(made)
    await fixture.query('update watchpost.evidence_due set look_at = now()')
    await freeze()
    const { evidence } = await evidenceOf(made)
    expect(evidence.deliveries[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['retry', 'ok'])
    expect(evidence.state).toBe('final')
  })

  test('of an alert that is reopened is preliminary again; the next record says both, and the first stays', async () => {
    const made = await raised()
    await patch(made, { resolved: true })
    await freeze()
    const first = await evidenceOf(made)
    await patch(made, { resolved: false })
    await freeze()
    const open = await evidenceOf(made)
    expect(open).toMatchObject({
      evidence: { number: 2, state: 'preliminary', alert: { resolved: false } },
      signature: null,
    })
    await patch(made, { resolved: true })
    await freeze()
    // A record an hour: who resolves and reopens again and again makes no more.
    expect((await evidenceOf(made)).signature).toBeNull()
    await anHourLater(made.alert)
    await freeze()
    const second = await evidenceOf(made)
    const actions = ['alert.resolved', 'alert.reopened', 'alert.resolved']
    expect(second.evidence).toMatchObject({ number: 2, state: 'final' })
    expect(second.evidence.audit.map(({ action }) => action)).toEqual(actions)
    expect((await evidenceOf(made, '?record=1')).text).toBe(first.text)
    for (const { text } of [first, second]) {
      expect(await checkEvidence(text, await keys())).toMatchObject({ ok: true })
    }
    expectProblem(await get(made.person, made.alert, '?record=3'), 404, 'not_found')
  })

  test('of an alert that one channel took waits for the other one', async () => {
    const made = await raised()
    const second = await fixture.channelOf(made.person)
    const add = `insert into watchpost.deliveries (alert_id, channel_id, type, status) values ($1, $2, 'alert.raised', 'sending')`
    await fixture.query(add, [made.alert, second.id])
    await patch(made, { resolved: true })
    await freeze()
    expect((await evidenceOf(made)).signature).toBeNull()
    await fixture.query(`update watchpost.deliveries set status = 'failed' where channel_id = $1`, [
      second.id,
    ])
    await fixture.query('update watchpost.evidence_due set look_at = now()')
    await freeze()
    expect((await evidenceOf(made)).evidence.deliveries.map(({ status }) => status)).toEqual([
      'succeeded',
      'failed',
    ])
  })

  test.each([
    [
      'a message that is sent again',
      async (made: Raised) => {
        const path = `/api/v1/alerts/${made.alert}/redeliver`
        const body = { delivery_ids: [made.delivery] }
        const answer = await fixture.service.request('POST', path, { key: made.person.key, body })
        expect(answer.status).toBe(202)
        await freeze()
      },
    ],
    ['a note', (made: Raised) => patch(made, { note: 'Seen by the port' })],
  ])('of a settled alert goes on with %s', async (_, act) => {
    const made = await raised()
    await patch(made, { resolved: true })
    await freeze()
    expect(await evidenceOf(made)).toMatchObject({ evidence: { number: 1, state: 'final' } })
    await act(made)
    await anHourLater(made.alert)
    await freeze()
    const { evidence } = await evidenceOf(made)
    expect(evidence).toMatchObject({ number: 2, state: 'final' })
  })

  test('does not forget what changed while it was made', async () => {
    const made = await raised()
    await patch(made, { resolved: true })
    const [due] = await fixture.query(
      'select token from watchpost.evidence_due where alert_id = $1',
      [made.alert],
    )
    await patch(made, { note: 'Meanwhile' })
    const keep = `select private.keep_evidence($1, 1, '{}', null, null, now(), true, $2)`
    await fixture.query(keep, [made.alert, due?.token])
    const left = 'select from watchpost.evidence_due where alert_id = $1'
    expect(await fixture.query(left, [made.alert])).toHaveLength(1)
    await fixture.query('delete from watchpost.evidence where alert_id = $1', [made.alert])
    await freeze()
    expect((await evidenceOf(made)).evidence.alert.note).toBe('Meanwhile')
    expect(await fixture.query(left, [made.alert])).toEqual([])
  })

  test('is made when the event is over, though nobody resolved the alert', async () => {
    const person = await fixture.service.person()
    await fixture.channelOf(person)
    const here = fixture.place()
    const { zone } = await fixture.make(
      person,
      'zones',
      { label: 'Z', ...here },
      z.object({ zone: z.object({ id: z.uuid() }) }),
    )
    const event = quake(here)
    await fixture.jobs.ingest(event)
    await fixture.jobs.drain()
    await fixture.jobs.ingest({
      ...event,
      status: 'retracted',
      revised_at: new Date().toISOString(),
    })
    await fixture.jobs.drain()
    await fixture.query('update watchpost.evidence_due set look_at = now()')
    await freeze()
    const [row] = await fixture.query('select id from watchpost.alerts where zone_id = $1', [
      zone.id,
    ])
    const file = parsed(await get(person, z.uuid().parse(row?.id)), 200, EvidenceFile)
    expect(file.evidence).toMatchObject({ state: 'final', alert: { resolved: false } })
    expect(file.evidence.revisions.map(({ status }) => status)).toEqual(['active', 'retracted'])
  })
})

describe('who sees evidence', () => {
  test('is who sees the alert: members of its organisation, nobody else', async () => {
    const made = await raised()
    const [member, stranger] = [await fixture.service.person(), await fixture.service.person()]
    const org = await fixture.service.organisation(made.person, [member, 'member'])
    await patch(made, { resolved: true })
    await freeze()
    expectProblem(await get(member, made.alert), 404, 'not_found')
    await fixture.query('update watchpost.zones set org_id = $2 where id = $1', [made.zone, org])
    const shared = parsed(await get(member, made.alert), 200, EvidenceFile)
    expect(shared.signature).not.toBeNull()
    for (const query of ['', '?record=1']) {
      expectProblem(await get(stranger, made.alert, query), 404, 'not_found')
    }
    const reader = { key: await fixture.service.key(member, { scopes: ['read'] }) }
    expect((await get(reader, made.alert)).status).toBe(200)
    const pushing = { key: await fixture.service.key(member, { scopes: ['ingest'] }) }
    expectProblem(await get(pushing, made.alert), 403, 'insufficient_scope')
    // Row-level security says the same, whatever the route asks.
    const rows = (key: string) =>
      fixture.service.queryAs(
        key,
        'select * from watchpost.evidence where alert_id = $1',
        [made.alert],
        'rollback',
      )
    expect(await rows(member.key)).toBe(1)
    expect(await rows(stranger.key)).toBe(0)
    for (const change of [
      'delete from watchpost.evidence',
      `update watchpost.evidence set record = '{}'`,
      'select * from watchpost.evidence_keys',
      'select * from watchpost.evidence_due',
    ]) {
      expect(await fixture.service.queryAs(made.person.key, change, [], 'rollback')).toBe('42501')
    }
  })

  test('a drill has none', async () => {
    const made = await raised()
    await fixture.query(
      `with drill as (
        insert into watchpost.drills (zone_id, event, ignores_quiet_hours, escalates)
        values ($1, '{}', false, false) returning id)
      update watchpost.alerts a set drill_id = drill.id from drill where a.id = $2`,
      [made.zone, made.alert],
    )
    await fixture.query('update watchpost.alerts set resolved = true where id = $1', [made.alert])
    await freeze()
    expectProblem(await get(made.person, made.alert), 404, 'not_found')
    expect(
      await fixture.query('select from watchpost.evidence where alert_id = $1', [made.alert]),
    ).toEqual([])
    expect(
      await fixture.query('select from watchpost.evidence_due where alert_id = $1', [made.alert]),
    ).toEqual([])
  })
})

describe('a person who is deleted', () => {
  test('takes their alerts’ evidence along; in that of others another id stands for them, signed anew', async () => {
    const made = await raised()
    const member = await fixture.service.person()
    const org = await fixture.service.organisation(made.person, [member, 'member'])
    await fixture.query('update watchpost.zones set org_id = $2 where id = $1', [made.zone, org])
    await patch({ ...made, person: member }, { resolved: true })
    const alone = await raised()
    await patch(alone, { resolved: true })
    await freeze()
    const before = await evidenceOf(made)
    expect(before.evidence.alert.resolved_by).toBe(member.user_id)
    await fixture.query('select private.erase_account($1)', [member.user_id])
    await fixture.query('select private.erase_account($1)', [alone.person.user_id])
    expect(
      await fixture.query('select from watchpost.evidence where alert_id = $1', [alone.alert]),
    ).toEqual([])
    expect((await evidenceOf(made)).text).not.toContain(member.user_id)
    await freeze()
    const after = await evidenceOf(made, '?record=1')
    expect(after.text).not.toContain(member.user_id)
    expect(after.evidence.audit[0]?.actor_id).not.toBe(member.user_id)
    expect(await checkEvidence(after.text, await keys())).toMatchObject({ ok: true })
  })
})

test('two processes that make the first key and a record at once agree', async () => {
  const made = await raised()
  await patch(made, { resolved: true })
  await fixture.query('update watchpost.evidence set kid = null, signature = null')
  await fixture.query('delete from watchpost.evidence_keys')
  const [one, two] = [1, 2].map(() =>
    createPool({ url: fixture.service.database.jobsUrl, application_name: 'test' }),
  )
  const deps = { seal: fixture.service.seal, log: () => undefined }
  if (!one || !two) throw new Error('no pools')
  await Promise.all([one, two].map((db) => freezeSettled({ ...deps, db })))
  await Promise.all([one.end(), two.end()])
  expect(await keys()).toHaveLength(1)
  expect(await checkEvidence((await evidenceOf(made)).text, await keys())).toMatchObject({
    ok: true,
  })
})

test('a record that no key signs is kept, and signed when there is one again', async () => {
  const made = await raised()
  await patch(made, { resolved: true })
  const db = createPool({ url: fixture.service.database.jobsUrl, application_name: 'test' })
  const lines: Record<string, unknown>[] = []
  const seal = createSeal([Buffer.alloc(32, 9).toString('base64')])
  await freezeSettled({ db, seal, log: (line) => void lines.push(line) })
  await db.end()
  expect(lines).toMatchObject([{ msg: 'evidence' }])
  expect((await evidenceOf(made)).signature).toBeNull()
  expectProblem(await get(made.person, made.alert, '?record=1'), 404, 'not_found')
  await freeze()
  expect(await checkEvidence((await evidenceOf(made)).text, await keys())).toMatchObject({
    ok: true,
  })
})

test('alerts that settle together are frozen together; one that cannot be keeps no other one waiting', async () => {
  const made = [await raised(), await raised(), await raised()]
  for (const one of made) await patch(one, { resolved: true })
  const [, broken] = made
  const event = { value: {} }
  const swap = async () => {
    const [row] = await fixture.query(
      `with before as (select event from watchpost.alerts where id = $1)
      update watchpost.alerts a set event = $2 from before where a.id = $1 returning before.event as value`,
      [broken?.alert, event.value],
    )
    Object.assign(event, row)
  }
  await swap()
  const db = createPool({ url: fixture.service.database.jobsUrl, application_name: 'test' })
  const begun: string[] = []
  const lines: Record<string, unknown>[] = []
  const counted: typeof db = {
    ...db,
    connect: async () => {
      begun.push('transaction')
      return db.connect()
    },
  }
  const run = () =>
    freezeSettled({ db: counted, seal: fixture.service.seal, log: (line) => void lines.push(line) })
  expect(await run()).toBe(2)
  expect(lines).toMatchObject([{ msg: 'evidence', alert_id: broken?.alert }])
  for (const one of made) {
    const isBroken = one === broken
    const rows = await fixture.query(
      'select from watchpost.evidence where alert_id = $1 and is_settled',
      [one.alert],
    )
    expect(rows).toHaveLength(isBroken ? 0 : 1)
  }
  await swap()
  await fixture.query('update watchpost.evidence_due set look_at = now()')
  for (const one of made) await anHourLater(one.alert)
  begun.length = 0
  await run()
  // What is due, what is unsigned, the key, what the records are made of, and what is kept.
  expect(begun.length).toBeLessThanOrEqual(6)
  await db.end()
  for (const one of made) {
    expect(await checkEvidence((await evidenceOf(one)).text, await keys())).toMatchObject({
      ok: true,
    })
  }
})
