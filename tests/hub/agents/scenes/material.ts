import type { Scene } from '../run-alone.ts'

export const lead = {
  id: '22222222-2222-4333-8444-555555555555',
  name: 'Ayşe Yılmaz',
  email: 'ayse@demir.example',
  company: 'Demir Lojistik',
  title: 'CEO',
  website: 'https://demir.example',
  country: 'TR',
  language: null,
  stage: 'new',
}
export const bare = {
  ...lead,
  id: '33333333-2222-4333-8444-555555555555',
  name: null,
  company: null,
}
export const evidence = [
  {
    id: '55555555-0000-4000-8000-000000000001',
    lead_id: lead.id,
    fact: 'Has 40 trucks in Istanbul',
    source: 'fair.csv:2',
  },
  {
    id: '55555555-0000-4000-8000-000000000002',
    lead_id: lead.id,
    fact: 'Delivers frozen food',
    source: 'demir.example',
  },
]
/** The rows about leads that a statement asks for. */
const ofLeads = <Row extends { lead_id: string }>(rows: Row[], params: unknown[]) =>
  rows.filter(({ lead_id }) => params.flat().includes(lead_id))
type Rows = NonNullable<Scene['rows']>
export const known: Rows = [
  [/^select id, name, company, email from hub\.leads/, [lead]],
  [/^select id, name, email.*from hub\.leads/, [lead]],
  [/array_position/, []],
  [/from hub\.evidence/, (params) => ofLeads(evidence, params)],
  [/^select from hub\.leads/, [{}]],
]
const answered = {
  lead_id: lead.id,
  kind: 'they',
  at: '2026-02-27T09:00:00Z',
  subject: 'Re: Routes',
}
export const history: Rows = [
  [
    /hub\.recipients as recipient .* as found$/,
    (params) => ofLeads([{ ...answered, text: 'Call me in March.' }], params),
  ],
]
export const brief =
  '# Rota\n\n## What we do\n\nRota plans routes for cold chains. It saves 12 % of the fuel.\n'
export const outline = { title: 'A paper', headings: ['First', 'Second'] }
export const sections = {
  'section 1': { paragraphs: ['One. *Two*', ' '], points: ['a point', ' '] },
  'section 2': { paragraphs: ['Three'], points: [] },
}
export const design = (template: string) => ({
  template,
  preheader: 'About your 40 trucks',
  headline: 'It saves 77 %',
  highlight: ['S1'],
})
export const MAIL = {
  subject: 'Routes for your trucks',
  sentences: [
    { text: 'Demir Lojistik has 40 trucks in Istanbul.', cites: ['E1'] },
    { text: 'You have 55 trucks.', cites: ['E1'] },
    { text: 'Shall we talk next week?', cites: ['none'] },
  ],
}
export const HONEST = {
  subject: 'Routes for your trucks',
  sentences: [
    { text: 'Demir Lojistik has 40 trucks in Istanbul.', cites: ['E1'] },
    { text: 'Demir Lojistik has 40 trucks in Istanbul.', cites: ['E1'] },
    { text: 'You deliver frozen food with them.', cites: ['E2'] },
    { text: 'Shall we talk next week?', cites: ['none'] },
  ],
}
export const page = (url: string, text: string, links: { url: string; text: string }[] = []) => ({
  page: { url, title: 'Demir', text, links },
})
export const said = (en: string, tr: string) => ({ en, tr })
