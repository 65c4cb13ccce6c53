import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'veri'])
})
afterAll(() => hub.close())
beforeEach(() => hub.query('delete from hub.drafts'))

const { get, add } = leadCalls(() => hub)
type Item = { id: string; title: string; who: string | null; batch: { size: number } | null }
const list = async (query = ''): Promise<Item[]> => (await get(`queue/list${query}`)).body.items

/** A draft that waits, by what mails of one batch have in common; `minutes` is how long it waits. */
async function waits(title: string, minutes: number, more: Record<string, unknown> = {}) {
  const { slug = 'demir', lead_id = crypto.randomUUID(), mission_id = null, ...given } = more
  const { subject = 'Freight', template = 'letter', language = 'en', kind = 'lead' } = given
  const audience = kind === 'lead' ? { kind, lead_id } : { kind, filter: {} }
  const [made] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, template, language, subject, rendered_subject,
       mission_id, state, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'rendered', date_trunc('hour', now()) - make_interval(mins => $8))
     returning id`,
    [
      hub.ids[String(slug)],
      JSON.stringify(audience),
      template,
      language,
      subject,
      title,
      mission_id,
      minutes,
    ],
  )
  return made?.id ?? ''
}
const shown = (items: Item[]) => items.map(({ title, batch }) => [title, batch?.size ?? null])

test('mails of one project, template, language and subject are a batch', async () => {
  await waits('first', 90)
  await waits('of another template', 80, { template: 'offer' })
  await waits('of another language', 70, { language: 'tr' })
  await waits('of another subject', 60, { subject: 'Storage' })
  await waits('of another project', 50, { slug: 'veri' })
  await waits('to a list', 40, { kind: 'list' })
  await waits('to a list too', 30, { kind: 'list' })
  await waits('second', 20)
  await waits('third', 10)
  expect(shown(await list())).toEqual([
    ['first', 3],
    ['second', 3],
    ['third', 3],
    ['of another template', null],
    ['of another language', null],
    ['of another subject', null],
    ['of another project', null],
    ['to a list', null],
    ['to a list too', null],
  ])
  expect((await list('?project=veri')).map(({ title }) => title)).toEqual(['of another project'])
})

test('mails of one mission are a batch, whatever their subjects', async () => {
  const mission = async () => {
    const [made] = await hub.query<{ id: string }>(
      `insert into hub.missions (project_id, department, task) values ($1, 'marketing', 'x') returning id`,
      [hub.ids.demir],
    )
    return made?.id
  }
  const [one, other] = [await mission(), await mission()]
  await waits('one', 9, { mission_id: one, subject: 'A' })
  await waits('other', 8, { mission_id: other, subject: 'A' })
  await waits('one more', 7, { mission_id: one, subject: 'B' })
  expect(shown(await list())).toEqual([
    ['one', 2],
    ['one more', 2],
    ['other', null],
  ])
})

test('what waits equally long has an order of its own, in a batch and outside', async () => {
  const ids = []
  for (let nth = 0; nth < 6; nth += 1) ids.push(await waits('x', 5, { subject: `S${nth}` }))
  const alone = (await list()).map(({ id }) => id)
  expect(alone.toSorted()).toEqual(ids.toSorted())
  expect((await list()).map(({ id }) => id)).toEqual(alone)
  await hub.query("update hub.drafts set subject = 'S'")
  expect((await list()).map(({ id }) => id)).toEqual(ids.toSorted())
})

test('a mail to one lead names it, by its name, its company or its address', async () => {
  const leads = [
    await add({ name: 'Ada', company: 'Öz', email: 'ada@x.example' }),
    await add({ company: 'Öz', email: 'info@x.example' }),
    await add({ email: 'cy@x.example' }),
  ]
  for (const [at, { id }] of leads.entries()) await waits(`to ${at}`, 9 - at, { lead_id: id })
  await waits('to nobody', 2)
  await waits('to many', 1, { kind: 'list' })
  expect((await list()).map(({ who }) => who)).toEqual(['Ada', 'Öz', 'cy@x.example', null, null])
})

const LETTER = {
  subject: 'Freight',
  preheader: 'A question',
  greeting: 'Hello {first_name}',
  paragraphs: ['Would you like to talk?'],
  closing: 'Kind regards',
}

test('of a kind 500 are listed, and all are counted, in a batch too', async () => {
  await hub.query(
    `with lead as (
       insert into hub.leads (project_id, name, stage)
       select $1, n::text, 'new' from generate_series(1, 520) as n returning id
     )
     insert into hub.drafts (project_id, audience, subject, rendered_subject, state, slots)
     select $1, jsonb_build_object('kind', 'lead', 'lead_id', id), 'Freight', 'x', 'rendered',
       $2::jsonb from lead`,
    [hub.ids.demir, JSON.stringify(LETTER)],
  )
  const { items, total } = (await get('queue/list?project=demir')).body
  expect(items).toHaveLength(500)
  expect(total).toBe(520)
  const { key, size } = items[0].batch
  expect(size).toBe(520)
  const batch = (await get(`queue/batch?key=${key}&project=demir`)).body
  expect(batch.drafts).toHaveLength(50)
  expect(batch.left_out).toBe(470)
})
