import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeFound } from '../../../hub/leads/found-leads.ts'
import type { Sql } from '../../../shared/sql.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'

let hub: TestHub
let of: { project_id: string; mission_id: string }
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  const [made] = await hub.query<{ project_id: string; mission_id: string }>(
    `insert into hub.missions (project_id, department, task)
     select id, 'research', 'x' from hub.projects returning project_id, id as mission_id`,
  )
  of = made ?? of
})
afterAll(() => hub.close())

type Given = Parameters<typeof storeFound>[2]
async function store(found: Given) {
  let statements = 0
  const stored = await hub.deps.db.transaction(of.project_id, (sql) => {
    const counted = (...given: unknown[]) => {
      statements += 1
      return Reflect.apply(sql, undefined, given)
    }
    return storeFound(counted as unknown as Sql, of, found) // safe: the same tag, counted
  })
  return { stored, statements }
}
const one = (lead: Given[number]['lead'], ...facts: string[]) => ({
  lead,
  facts: facts.map((fact) => ({ fact, quote: fact })),
  source: 'fair.csv:2',
})

test('many leads take as many statements as a few', async () => {
  const many = Array.from({ length: 400 }, (_, n) =>
    one({ email: `p${n}@many.example`, company: `Many ${n}` }, `Fleet: ${n}`, 'City: Bursa'),
  )
  const { stored, statements } = await store(many)
  expect(statements).toBe(5)
  expect(stored.every(({ is_new }) => is_new)).toBe(true)
  expect(new Set(stored.map(({ id }) => id)).size).toBe(400)
  const again = await store(many)
  expect(again.stored).toEqual(stored.map(({ id }) => ({ id, is_new: false })))
  const [count] = await hub.query(
    `select count(*)::int as evidence, count(distinct lead_id)::int as leads,
       (select count(*)::int from hub.activities where kind = 'imported') as imported,
       (select count(*)::int from hub.activities where kind = 'evidence') as told
     from hub.evidence where lead_id is not null`,
  )
  expect(count).toEqual({ evidence: 800, leads: 400, imported: 400, told: 800 })
})

test('a lead is known by its address, or without one by name and company', async () => {
  const { stored } = await store([
    one({ name: 'Ayşe', company: 'Çelik A.Ş.' }, 'a'),
    one({ name: 'ayse', company: 'celik a.ş.' }, 'b'),
    one({ name: 'Ayşe', company: 'Other' }, 'c'),
    one({ email: 'A@Celik.example', name: 'Ayşe', company: 'Çelik A.Ş.' }, 'd'),
    one({ email: 'a@celik.example' }, 'e', 'e'),
  ])
  const ids = stored.map(({ id }) => id)
  expect(stored.map(({ is_new }) => is_new)).toEqual([true, false, true, true, false])
  expect(ids[1]).toBe(ids[0])
  expect(ids[4]).toBe(ids[3])
  expect(new Set(ids).size).toBe(3)
  const facts = await hub.query<{ lead_id: string; facts: string[] }>(
    'select lead_id, array_agg(fact order by fact) as facts from hub.evidence where lead_id = any($1) group by 1',
    [ids],
  )
  const factsOf = (at: number) => facts.find(({ lead_id }) => lead_id === ids[at])?.facts
  expect([factsOf(0), factsOf(2), factsOf(3)]).toEqual([['a', 'b'], ['c'], ['d', 'e']])
  const [lead] = await hub.query<{ domain: string; source: string | null }>(
    "select domain, stage from hub.leads where email = 'A@Celik.example'",
  )
  expect(lead).toEqual({ domain: 'celik.example', stage: 'new' })
})

test('what was found is told with its mission, and each fact with its source', async () => {
  const lead = { name: 'Told', company: 'Told Ltd.', title: 'CEO' }
  const web = {
    lead,
    facts: [{ fact: 'Fleet: 40', quote: 'We run 40' }],
    source: 'https://told.example',
  }
  const { stored } = await store([web, { ...web, source: 'fair.csv:2' }, web])
  const id = stored[0]?.id
  expect(stored).toEqual([
    { id, is_new: true },
    { id, is_new: false },
    { id, is_new: false },
  ])
  const [row] = await hub.query('select name, company, title, stage from hub.leads where id = $1', [
    id,
  ])
  expect(row).toEqual({ ...lead, stage: 'new' })
  const evidence = await hub.query<{ id: string; source: string }>(
    'select id, fact, quote, source, mission_id from hub.evidence where lead_id = $1 order by source',
    [id],
  )
  const fact = { fact: 'Fleet: 40', quote: 'We run 40', mission_id: of.mission_id }
  expect(evidence).toMatchObject([
    { ...fact, source: 'fair.csv:2' },
    { ...fact, source: 'https://told.example' },
  ])
  const told = await hub.query(
    "select kind, details from hub.activities where lead_id = $1 order by kind, details ->> 'source'",
    [id],
  )
  expect(told).toEqual([
    ...evidence.map((one) => ({
      kind: 'evidence',
      details: { evidence_id: one.id, source: one.source },
    })),
    { kind: 'imported', details: { mission_id: of.mission_id } },
  ])
})

test('of two leads of one name the older one is known, and none of another project', async () => {
  const add = async (project_id: string, more: Record<string, string> = {}) => {
    const [made] = await hub.query<{ id: string }>(
      `insert into hub.leads (project_id, name, company, email, created_at)
       values ($1, 'Twin', 'Twins', $2, $3) returning id`,
      [project_id, more.email ?? null, more.at ?? new Date()],
    )
    return made?.id ?? ''
  }
  const [other] = await hub.query<{ id: string }>(
    "insert into hub.projects (slug, name) values ('elsewhere', 'Elsewhere') returning id",
  )
  await add(other?.id ?? '', { email: 'twin@x.example', at: '2020-01-01' })
  await add(of.project_id)
  const older = await add(of.project_id, { at: '2021-01-01' })
  const { stored } = await store([
    one({ name: 'twin', company: 'TWINS' }, 'a'),
    one({ email: 'twin@x.example' }, 'b'),
    one({ name: 'Twin' }, 'c'),
  ])
  expect(stored.map(({ is_new }) => is_new)).toEqual([false, true, true])
  expect(stored[0]?.id).toBe(older)
})

test('nothing is no statement', async () => {
  expect(await store([])).toEqual({ stored: [], statements: 0 })
})
