import { expect, test } from 'vitest'
import { TOOLS } from '../../../hub/api/automation/mcp-tools.ts'

const ID = '3f0c5f7e-7b1a-4c7e-9a52-0c6c1c1f2a55'
const tool = (name: string) => {
  const found = TOOLS.find((one) => one.name === name)
  if (!found) throw new Error(`There is no tool ${name}.`)
  return found
}
const takes = (name: string, input: object) => tool(name).input.safeParse(input).success

test.each<[name: string, input: object, call: object]>([
  ['list_projects', {}, { method: 'GET', path: 'projects/list' }],
  ['list_leads', { project: 'rota' }, { method: 'GET', path: 'leads/list?project=rota' }],
  [
    'list_leads',
    { project: 'rota', stage: 'won', q: 'Ö & B', limit: 5, cursor: undefined },
    { method: 'GET', path: 'leads/list?project=rota&stage=won&q=%C3%96+%26+B&limit=5' },
  ],
  ['get_lead', { lead_id: ID }, { method: 'GET', path: `lead/get?lead_id=${ID}` }],
  [
    'get_timeline',
    { lead_id: ID, limit: 1, cursor: 'c' },
    { method: 'GET', path: `lead/timeline?lead_id=${ID}&limit=1&cursor=c` },
  ],
  ['list_drafts', { project: 'rota' }, { method: 'GET', path: 'drafts/list?project=rota' }],
  [
    'get_draft',
    { project: 'rota', id: ID },
    { method: 'GET', path: `drafts/get?project=rota&id=${ID}` },
  ],
  ['list_missions', { project: 'rota' }, { method: 'GET', path: 'missions/list?project=rota' }],
  ['get_mission', { id: ID }, { method: 'GET', path: `missions/${ID}` }],
  ['search', { q: 'a' }, { method: 'GET', path: 'search?q=a' }],
  ['get_numbers', { project: 'rota' }, { method: 'GET', path: 'projects/kpi/rota' }],
  [
    'create_lead',
    { project: 'rota', name: 'Ada', tags: ['x'] },
    {
      method: 'POST',
      path: 'lead/quick_add',
      body: { slug: 'rota', data: { name: 'Ada', tags: ['x'] } },
    },
  ],
  [
    'add_note',
    { lead_id: ID, text: 'Hi' },
    { method: 'POST', path: 'lead/note', body: { lead_id: ID, text: 'Hi' } },
  ],
  [
    'create_draft',
    { project: 'rota', lead_id: ID, subject: 'Hi', text: 'x' },
    {
      method: 'POST',
      path: 'draft/create',
      body: {
        project: 'rota',
        subject: 'Hi',
        text: 'x',
        audience: { kind: 'lead', lead_id: ID },
      },
    },
  ],
  [
    'compose_mission',
    { project: 'rota', task: 'Count.' },
    {
      method: 'POST',
      path: 'mission/compose',
      body: { project: 'rota', department: 'auto', task: 'Count.' },
    },
  ],
])('%s asks the API for what it was given: %j', (name, input, call) => {
  const { input: schema, call: ask } = tool(name)
  expect(ask(schema.parse(input))).toEqual(call)
})

const lead = { lead_id: ID }
const project = { project: 'rota' }
const mail = { ...project, ...lead, subject: 'x', text: 'x' }
test.each<[name: string, input: object, field: string, good: unknown[], bad: unknown[]]>([
  ...['list_leads', 'list_drafts', 'list_missions'].flatMap(
    (name): [string, object, string, unknown[], unknown[]][] => [
      [name, project, 'limit', [1, 100, undefined], [0, 101, 1.5, '5']],
      [name, project, 'cursor', ['', 'x'.repeat(1000), undefined], ['x'.repeat(1001)]],
      [name, project, 'project', ['rota', 'rota-2'], ['', 'Rota', 'a/b', undefined]],
    ],
  ),
  ['get_timeline', lead, 'limit', [1, 100, undefined], [0, 101]],
  ['list_leads', project, 'stage', ['x'.repeat(20), undefined], ['x'.repeat(21)]],
  ['list_leads', project, 'q', ['', 'x'.repeat(200), undefined], ['x'.repeat(201)]],
  ['search', {}, 'q', ['x', 'x'.repeat(200)], ['', 'x'.repeat(201), undefined]],
  ['get_lead', {}, 'lead_id', [ID], ['x', undefined]],
  ['get_timeline', {}, 'lead_id', [ID], ['x', undefined]],
  ['get_mission', {}, 'id', [ID], ['../settings', undefined]],
  ['get_draft', project, 'id', [ID], ['x', undefined]],
  ['get_numbers', {}, 'project', ['rota'], ['../settings', undefined]],
  ['add_note', lead, 'text', ['x', 'x'.repeat(10_000)], ['', 'x'.repeat(10_001), undefined]],
  ['add_note', { text: 'x' }, 'lead_id', [ID], ['x', undefined]],
  ['create_draft', mail, 'subject', ['x'.repeat(300)], ['', 'x'.repeat(301), undefined]],
  ['create_draft', mail, 'text', ['x'.repeat(100_000)], ['', 'x'.repeat(100_001), undefined]],
  ['create_draft', mail, 'language', ['en', 'tr', undefined], ['de', '']],
  ['create_lead', { ...project, name: 'x' }, 'score', [0, 100], [-1, 101]],
  ['compose_mission', { ...project, task: 'x' }, 'department', ['x'.repeat(40)], ['x'.repeat(41)]],
  ['compose_mission', project, 'task', ['x', 'x'.repeat(20_000)], ['', 'x'.repeat(20_001)]],
])('%s with %j takes as %s what is within its limits', (name, input, field, good, bad) => {
  for (const value of good)
    expect([value, takes(name, { ...input, [field]: value })]).toEqual([value, true])
  for (const value of bad)
    expect([value, takes(name, { ...input, [field]: value })]).toEqual([value, false])
})
