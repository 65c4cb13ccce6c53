import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic', 'old'])
})
afterAll(() => hub.close())

const { get, post, add } = leadCalls(() => hub)

describe('in bulk', () => {
  test('stages and tags change, each with its activity, and foreign ids are missing', async () => {
    const mine = [await add({ name: 'B1', tags: ['a'] }), await add({ name: 'B2' })]
    const foreign = await add({ name: 'Foreign' }, 'baltic')
    const ids = [...mine, foreign].map(({ id }) => id)
    const done = await post('leads/bulk', {
      project: 'demir',
      ids,
      stage: 'contacted',
      add_tags: ['b'],
      remove_tags: ['a'],
    })
    expect(done.body.missing).toEqual([foreign.id])
    expect(done.body.changed.toSorted()).toEqual(ids.slice(0, 2).toSorted())
    for (const { id } of mine) {
      const { lead } = (await get(`lead/get?lead_id=${id}`)).body
      expect(lead).toMatchObject({ stage: 'contacted', tags: ['b'] })
    }
    expect((await get(`lead/get?lead_id=${foreign.id}`)).body.lead.stage).toBe('new')
    const gone = await post('leads/bulk', { project: 'demir', ids, delete: true })
    expect(gone.body.changed).toHaveLength(2)
    expect((await get(`lead/get?lead_id=${foreign.id}`)).status).toBe(200)
    expect((await post('leads/bulk', { project: 'demir', ids })).status).toBe(422)
    const both = await post('leads/bulk', { project: 'demir', ids, delete: true, stage: 'won' })
    expect(both.status).toBe(422)
  })
})

test('a lead that has as many tags as it can have is left as it is, and named', async () => {
  const tags = Array.from({ length: 50 }, (_, nth) => `tag ${nth}`)
  const [full, other] = [await add({ name: 'Full', tags }), await add({ name: 'Other' })]
  const change = (more: object) =>
    post('leads/bulk', { project: 'demir', ids: [full.id, other.id], ...more })
  const tagged = await change({ add_tags: ['one more'], stage: 'contacted' })
  expect(tagged.body).toMatchObject({ changed: [other.id], full: [full.id] })
  expect((await get(`lead/get?lead_id=${full.id}`)).body.lead).toMatchObject({ tags, stage: 'new' })
  // A tag that it has, or one in the place of another, is no more than it can have.
  const swapped = await change({ add_tags: ['one more'], remove_tags: ['tag 7'] })
  expect(swapped.body).toMatchObject({ full: [] })
  expect((await get(`lead/get?lead_id=${full.id}`)).body.lead.tags).toHaveLength(50)
})

describe('duplicates', () => {
  test('share a domain in the project or an e-mail across projects; mail providers say nothing', async () => {
    await add({ name: 'A', email: 'a@dup.example.com' }, 'old')
    await add({ name: 'B', website: 'www.example.com' }, 'old')
    await add({ name: 'C', email: 'c@gmail.com' }, 'old')
    await add({ name: 'D', email: 'd@gmail.com' }, 'old')
    await add({ name: 'E', email: 'SAME@elsewhere.example' }, 'old')
    await add({ name: 'F', email: 'same@elsewhere.example' }, 'baltic')
    const { body } = await get('leads/duplicates?project=old')
    const told = body.duplicates.map(
      (group: { kind: string; value: string; leads: { name: string; project: string }[] }) => [
        group.kind,
        group.value,
        group.leads.map(({ name, project }) => `${name} in ${project}`),
      ],
    )
    expect(told).toContainEqual(['domain', 'example.com', ['A in old', 'B in old']])
    expect(told).toContainEqual(['email', 'same@elsewhere.example', ['E in old', 'F in baltic']])
    expect(JSON.stringify(told)).not.toContain('gmail')
    const first = (await get('leads/duplicates?project=old&limit=1')).body
    const second = (await get(`leads/duplicates?project=old&limit=1&cursor=${first.next_cursor}`))
      .body
    expect(second.duplicates[0].value).not.toBe(first.duplicates[0].value)
  })
})
