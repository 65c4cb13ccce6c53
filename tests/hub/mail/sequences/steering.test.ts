import { describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { scheduleSequences } from '../../../../hub/mail/sequences/schedule.ts'
import {
  doubtSequences,
  finishSequence,
  stopSequence,
} from '../../../../hub/mail/sequences/state.ts'
import { ALWAYS, api, hub, passDays, STEPS, smtp, useSequences } from './sequence-help.ts'

const { of, get, add, create, approve, run, people, group } = useSequences()

const ONE = { steps: STEPS.slice(0, 1) }
const STEERS = ['pause', 'resume', 'stop', 'approve'] as const
const status = async (name: string, id: string, more: object = {}) =>
  (await api.post(`sequence/${name}`, { ...of(id), ...more })).status
/** What a person may do with a sequence: each is tried, and the sequence then put back as it was; its mails are not. */
async function possible(id: string): Promise<string[]> {
  const before = await hub.query<{ row: string }>(
    'select to_jsonb(s)::text as row from hub.sequences s where id = $1',
    [id],
  )
  const found: string[] = []
  for (const name of STEERS) {
    if ((await status(name, id)) === 200) found.push(name)
    await hub.query(
      `update hub.sequences s set state = b.state, state_reason = b.state_reason, approved = b.approved,
        approved_hash = b.approved_hash, approved_at = b.approved_at, started_at = b.started_at, ended_at = b.ended_at
      from jsonb_populate_record(null::hub.sequences, $2::jsonb) b where s.id = $1`,
      [id, before[0]?.row],
    )
  }
  return found
}
const told = async (lead_id: string) =>
  (await api.get(`lead/timeline?lead_id=${lead_id}`)).body.activities
    .filter(({ kind }: { kind: string }) => kind === 'sequence')
    .map(({ details }: { details: { what: string } }) => details.what)

describe('a sequence can be', () => {
  test('approved as a draft, and stopped only once it had been approved', async () => {
    const { tag } = await group(['draft'])
    const id = await create({ tag }, ONE)
    expect(await possible(id)).toEqual(['approve'])
    await hub.query('update hub.sequences set started_at = now() where id = $1', [id])
    expect(await status('stop', id)).toBe(200)
  })

  test('paused and stopped while it runs, resumed and stopped while it is paused', async () => {
    const { tag } = await group(['steer'])
    const id = await create({ tag })
    await approve(id)
    expect(await possible(id)).toEqual(['pause', 'stop'])
    const { tag: other } = await group(['paused'])
    const paused = await create({ tag: other })
    await approve(paused)
    await api.ok('sequence/pause', of(paused))
    expect(await possible(paused)).toEqual(['resume', 'stop'])
  })

  test('nothing any more when it is stopped or done', async () => {
    const { tag } = await group(['end'])
    const stopped = await create({ tag })
    await approve(stopped)
    await api.ok('sequence/stop', of(stopped))
    expect((await get(stopped)).sequence).toMatchObject({ ended_at: expect.any(String) })
    expect(await possible(stopped)).toEqual([])
    const done = await create({ tag }, ONE)
    await approve(done)
    await run()
    expect((await get(done)).sequence).toMatchObject({
      state: 'done',
      ended_at: expect.any(String),
      people: { active: 0, done: 1 },
    })
    expect(await possible(done)).toEqual([])
  })
})

test('is done only when the last of its recipients is', async () => {
  const { tag } = await group(['first', 'later'])
  const id = await create({ tag }, ONE)
  await approve(id)
  const [name] = Object.keys(await people(id)).filter((one) => one.startsWith('later'))
  await hub.query(
    `update hub.sequence_recipients set wait_until = now() + interval '2 days' where email = $1`,
    [`${name}@client.example`],
  )
  await run()
  expect((await get(id)).sequence).toMatchObject({ state: 'running', people: { active: 1 } })
  await passDays(hub, 3)
  await run()
  expect((await get(id)).sequence.state).toBe('done')
  const left = (await people(id))[name ?? ''] as object
  expect(left).toMatchObject({ state: 'done', ended_at: expect.any(String) })
})

test('one that is paused meanwhile is not done, although nobody is left in it', async () => {
  const { tag } = await group(['only'])
  const id = await create({ tag })
  await approve(id)
  await api.ok('sequence/pause', of(id))
  const [only] = Object.keys(await people(id))
  await api.ok('sequence/take_out', { ...of(id), email: `${only}@client.example` })
  const finish = () => everywhere(hub.deps.db, (sql) => finishSequence(sql, id))
  expect(await finish()).toBe(false)
  await api.ok('sequence/resume', of(id))
  await run()
  expect((await get(id)).sequence.state).toBe('done')
  expect(await finish()).toBe(false)
})

test('who was left out and had no mail is looked at anew at the next approval, and nobody starts twice', async () => {
  const { tag, ids } = await group(['in'])
  const out = await add('nobasis', { tags: [tag], lawful_basis: null, basis_note: null })
  const id = await create({ tag })
  await approve(id)
  expect((await people(id)).nobasis).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
  expect(await told(out.id)).toEqual([])
  await api.ok('lead/update', { lead_id: out.id, lawful_basis: 'consent', basis_note: 'By phone' })
  await api.ok('sequence/edit', { ...of(id), window: { ...ALWAYS, to: '23:30' } })
  await approve(id)
  expect((await people(id)).nobasis).toMatchObject({ state: 'active', stop_reason: null })
  expect(await told(out.id)).toEqual(['started'])
  expect(await told(ids[0] ?? '')).toEqual(['started'])
  await api.ok('sequence/stop', of(id))
})

test('an edit takes a paused sequence back to a draft too, and its next approval keeps when it began', async () => {
  const { tag, ids } = await group(['moves'])
  const id = await create({ tag })
  await approve(id)
  const kept = () =>
    hub.query(
      `select s.started_at, p.time_zones from hub.sequences s
      join hub.sequence_recipients p on p.sequence_id = s.id where s.id = $1`,
      [id],
    )
  const [before] = await kept()
  await api.ok('sequence/pause', of(id))
  await api.ok('lead/update', { lead_id: ids[0], country: 'Japan' })
  await api.ok('sequence/edit', { ...of(id), window: { ...ALWAYS, to: '23:30' } })
  expect((await get(id)).sequence).toMatchObject({ state: 'draft', approved_at: null })
  await approve(id)
  // Its reader has moved meanwhile, and so have the office hours.
  expect(before?.time_zones).toEqual(['UTC'])
  expect(await kept()).toEqual([{ ...before, time_zones: ['Asia/Tokyo'] }])
  await api.ok('sequence/stop', of(id))
})

test('a pause ends the wait after a fault of the server: what is resumed goes at once', async () => {
  const { tag } = await group(['waits'])
  const id = await create({ tag }, ONE)
  await approve(id)
  await hub.query(
    `update hub.drafts set retry_at = now() + interval '1 hour' where sequence_id = $1`,
    [id],
  )
  smtp.to().length = 0
  await run()
  expect(smtp.to()).toEqual([])
  await api.ok('sequence/pause', of(id))
  await api.ok('sequence/resume', of(id))
  await run()
  expect(smtp.to()).toHaveLength(1)
})

test('whose mail was left out leaves the sequence as left out, with the reason', async () => {
  const { tag } = await group(['skipped'])
  const id = await create({ tag })
  await approve(id)
  await hub.query(
    `update hub.recipients r set state = 'skipped', reason = '{"en": "No basis.", "tr": "Dayanak yok."}'
    from hub.drafts d where d.id = r.draft_id and d.sequence_id = $1`,
    [id],
  )
  await run()
  const [one] = Object.values(await people(id))
  expect(one).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
  expect(JSON.stringify(one)).toContain('No basis.')
})

test('who was taken out stays out at the next approval', async () => {
  const { tag } = await group(['gone', 'kept'])
  const id = await create({ tag })
  await approve(id)
  const gone = Object.keys(await people(id)).find((one) => one.startsWith('gone'))
  const email = `${gone}@client.example`
  await api.ok('sequence/take_out', { ...of(id), email })
  expect(await status('take_out', id, { email })).toBe(404)
  await api.ok('sequence/edit', { ...of(id), window: { ...ALWAYS, to: '23:30' } })
  await approve(id)
  expect((await people(id))[gone ?? '']).toMatchObject({ stop_reason: 'taken_out' })
  await api.ok('sequence/stop', of(id))
})

test('a mail that did not go is sent again while the sequence runs, and never once it has ended', async () => {
  const { tag } = await group(['unclear'])
  const id = await create({ tag })
  await approve(id)
  await run()
  smtp.to().length = 0
  await hub.query(
    `update hub.recipients r set state = 'unclear', sent_at = null from hub.drafts d
    where d.id = r.draft_id and d.sequence_id = $1 and r.state = 'sent'`,
    [id],
  )
  await api.ok('sequence/stop', of(id))
  const states = async () =>
    (
      await hub.query<{ state: string }>(
        'select state from hub.drafts where sequence_id = $1 order by step',
        [id],
      )
    ).map(({ state }) => state)
  expect((await states())[0]).toBe('unclear')
  expect(await status('clear', id, { outcome: 'not_sent' })).toBe(200)
  expect((await states())[0]).toBe('failed')
  expect(await status('clear', id, { outcome: 'not_sent' })).toBe(404)
  await run()
  expect(smtp.to()).toEqual([])
  const [one] = Object.values(await people(id)) as { mails: { state: string }[] }[]
  expect(one?.mails[0]?.state).toBe('skipped')
})

test('everybody is stopped in a few statements, each with the timeline', async () => {
  const { tag, ids } = await group(['one', 'two', 'three', 'four', 'five', 'six'])
  const id = await create({ tag })
  await approve(id)
  let statements = 0
  await everywhere(hub.deps.db, (sql) =>
    stopSequence((text, ...values) => {
      statements += 1
      return sql(text, ...values)
    }, id),
  )
  expect(statements).toBeLessThan(6)
  const reasons = Object.values(await people(id)).map(
    (one) => (one as { stop_reason: string }).stop_reason,
  )
  expect(reasons).toEqual(ids.map(() => 'sequence_stopped'))
  const told = await hub.query(
    `select 1 from hub.activities where lead_id = any($1) and details ->> 'what' = 'stopped'`,
    [ids],
  )
  expect(told).toHaveLength(6)
})

test('a mail that did not go leaves an edited sequence as if it had never been tried', async () => {
  const { tag } = await group(['edited'])
  const id = await create({ tag })
  await approve(id)
  await run()
  await hub.query(
    `update hub.recipients r set state = 'unclear', sent_at = null, company = 'Before' from hub.drafts d
    where d.id = r.draft_id and d.sequence_id = $1 and r.state = 'sent'`,
    [id],
  )
  await api.ok('sequence/edit', { ...of(id), name: 'Edited' })
  expect(await status('clear', id, { outcome: 'not_sent' })).toBe(200)
  const { steps } = (await get(id)).sequence
  expect(steps[0].mails).toMatchObject({ waiting: 0, unclear: 0 })
  const [, second] = steps as { id: string; text: string }[]
  await api.ok('sequence/edit', {
    ...of(id),
    steps: [{ id: second?.id, wait_days: 0, subject: 'Another question', text: second?.text }],
  })
  smtp.to().length = 0
  await approve(id)
  await run()
  expect(smtp.mails.at(-1)?.subject).toBe('Another question')
  expect(smtp.to()).toHaveLength(1)
})

test('a sequence that was never sent can be deleted once it is stopped; one that runs or is paused cannot', async () => {
  const { tag } = await group(['delete'])
  const id = await create({ tag })
  await approve(id)
  expect(await status('delete', id)).toBe(409)
  await api.ok('sequence/pause', of(id))
  expect(await status('delete', id)).toBe(409)
  await api.ok('sequence/stop', of(id))
  expect(await status('delete', id)).toBe(200)
  const sent = await create({ tag })
  await approve(sent)
  await run()
  await api.ok('sequence/stop', of(sent))
  expect(await status('delete', sent)).toBe(409)
})

test('a restored sequence sends nothing until it is approved again; one that has ended stays ended', async () => {
  const { tag } = await group(['restored'])
  const [running, ended] = [await create({ tag }), await create({ tag })]
  await approve(ended)
  await api.ok('sequence/stop', of(ended))
  await approve(running)
  smtp.to().length = 0
  await everywhere(hub.deps.db, doubtSequences)
  expect((await get(running)).sequence).toMatchObject({
    state: 'draft',
    approved_at: null,
    state_reason: expect.stringContaining('backup'),
  })
  expect((await get(ended)).sequence.state).toBe('stopped')
  await run()
  expect(smtp.to()).toEqual([])
})

test('a sequence that cannot be scheduled holds up no other', async () => {
  const [broken, whole] = [await group(['broken']), await group(['whole'])]
  const first = await create({ tag: broken.tag })
  await approve(first)
  // A zone that an older release of the time zones knew.
  await hub.query(
    `update hub.sequence_recipients set time_zones = '{Nowhere/Land}' where sequence_id = $1`,
    [first],
  )
  const second = await create({ tag: whole.tag })
  await approve(second)
  smtp.to().length = 0
  await run()
  expect(smtp.to()).toEqual([expect.stringContaining('whole')])
  for (const id of [first, second]) await api.ok('sequence/stop', of(id))
})

test('scheduling again changes nothing', async () => {
  const { tag } = await group(['again'])
  const id = await create({ tag })
  await approve(id)
  const times = () =>
    hub.query(
      `select r.email, r.state, r.due_at, r.due_until from hub.recipients r
      join hub.drafts d on d.id = r.draft_id where d.sequence_id = $1 order by 1, 3`,
      [id],
    )
  const { config, db } = hub.deps
  const schedule = () => scheduleSequences({ config, db, log: () => {} })
  await schedule()
  const before = await times()
  expect(before).toContainEqual(expect.objectContaining({ due_at: expect.any(Date) }))
  await schedule()
  expect(await times()).toEqual(before)
  await api.ok('sequence/stop', of(id))
})
