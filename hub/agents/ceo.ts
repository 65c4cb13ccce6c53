import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { heading, list, plain, table } from '../projects/markdown.ts'
import { type Agent, type AgentContext, COMMON, type Fact, type Result } from './agent.ts'
import { givenText } from './evidence/given.ts'
import { signalsOf } from './numbers/signals.ts'
import { type Weeks, weeksFact, weeksOf, weeksTable } from './numbers/weeks.ts'
import { wordsOf } from './run/words.ts'
import { saveDocument, sections } from './writing.ts'

const KPIS = {
  leads_total: { en: 'Leads', tr: 'Müşteri adayı' },
  leads_new_30d: { en: 'New leads, 30 days', tr: 'Yeni aday, 30 gün' },
  meetings: { en: 'Leads with a meeting or further', tr: 'Görüşme ve ötesindeki adaylar' },
  won: { en: 'Won', tr: 'Kazanılan' },
  drafts_waiting: { en: 'Drafts waiting', tr: 'Bekleyen taslak' },
  mails_sent_30d: { en: 'Mails sent, 30 days', tr: 'Gönderilen posta, 30 gün' },
  replies_30d: { en: 'Replies, 30 days', tr: 'Yanıt, 30 gün' },
  missions_done_30d: { en: 'Missions done, 30 days', tr: 'Biten görev, 30 gün' },
} satisfies Record<string, Words>
type Kpi = keyof typeof KPIS
const NAMES = Object.keys(KPIS) as [Kpi, ...Kpi[]] // safe: constant keys

const Okr = z.object({
  title: z.string().min(3).max(100),
  objectives: z
    .array(
      z.object({
        objective: z.string().min(5).max(160),
        why: z.string().max(260),
        key_results: z
          .array(
            z.object({
              metric: z.enum(NAMES),
              target: z.int().min(0).max(1_000_000),
              how: z.string().max(160),
            }),
          )
          .min(1)
          .max(3),
      }),
    )
    .min(1)
    .max(3),
  risks: z.array(z.string().max(180)).max(4),
})

const WORDS = {
  today: { en: 'Where we stand', tr: 'Bugünkü durum' },
  metric: { en: 'Metric', tr: 'Ölçüt' },
  now: { en: 'Now', tr: 'Şimdi' },
  target: { en: 'Target', tr: 'Hedef' },
  how: { en: 'How', tr: 'Nasıl' },
  risks: { en: 'Risks', tr: 'Riskler' },
} satisfies Record<string, Words>

/** Strategy and OKR documents; every number in them is counted by code. */
export const ceo: Agent = {
  name: 'ceo',
  role: {
    en: 'Strategy and OKRs from your own numbers',
    tr: 'Kendi sayılarınızdan strateji ve OKR',
  },
  variables: { ...COMMON, metrics: () => NAMES.join(', ') },
  budget: { steps: 12, tokens: 40_000 },
  steps: async (context) => {
    context.expect(6)
    const kpis = await context.step('kpis', async (sql) => {
      const [row] = await sql<Record<Kpi, number>>`
        select
          (select count(*) from hub.leads) as leads_total,
          (select count(*) from hub.leads where created_at > now() - interval '30 days') as leads_new_30d,
          (select count(*) from hub.leads where stage in ('meeting', 'proposal', 'won')) as meetings,
          (select count(*) from hub.leads where stage = 'won') as won,
          (select count(*) from hub.drafts
           where state in ('draft', 'rendered') and sequence_id is null) as drafts_waiting,
          (select count(*) from hub.recipients where sent_at > now() - interval '30 days') as mails_sent_30d,
          (select count(*) from hub.recipients where replied_at > now() - interval '30 days') as replies_30d,
          (select count(*) from hub.missions
           where status = 'done' and finished_at > now() - interval '30 days') as missions_done_30d`
      return row as Record<Kpi, number> // safe: a select without from gives one row
    })
    const weeks = await context.step('weeks', weeksOf)
    const signals = await context.step('signals', signalsOf)
    const facts: Fact[] = [
      { label: 'KPIs', text: NAMES.map((name) => `${name}: ${kpis[name]}`).join('\n') },
      weeksFact(weeks),
      ...signals,
      ...(await givenText(context)),
    ]
    const isOkr = wordsOf(context.mission.task).some((word) =>
      /^(okr|hedef|goal|objective|key|anahtar)/.test(word),
    )
    const stand = standing(context, kpis, weeks)
    return isOkr ? okr(context, facts, { kpis, stand }) : strategy(context, facts, stand)
  },
}

function standing(context: AgentContext, kpis: Record<Kpi, number>, weeks: Weeks): string[] {
  const { language } = context
  const rows = NAMES.map((name) => [KPIS[name][language], kpis[name]])
  return [
    heading(2, WORDS.today[language]),
    table([WORDS.metric[language], WORDS.now[language]], rows, [1]),
    ...weeksTable(weeks, language),
  ]
}

async function okr(
  context: AgentContext,
  facts: Fact[],
  { kpis, stand }: { kpis: Record<Kpi, number>; stand: string[] },
): Promise<Result> {
  const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
  const plan = await context.complete('objectives', {
    schema: Okr,
    facts,
    task: 'Write objectives with key results. A key result names one of the metrics and its target; where it stands now is filled in by the program.',
  })
  const columns = [say('metric'), say('now'), say('target'), say('how')]
  const rows = plan.objectives.flatMap(({ key_results }) =>
    key_results.map(({ metric, target, how }) => [
      KPIS[metric][context.language],
      kpis[metric],
      target,
      how,
    ]),
  )
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'ceo',
      title: plan.title,
      blocks: [
        ...stand,
        ...plan.objectives.flatMap(({ objective, why, key_results }) => [
          heading(2, objective),
          plain(why),
          table(
            columns,
            key_results.map(({ metric, target, how }) => [
              KPIS[metric][context.language],
              kpis[metric],
              target,
              how,
            ]),
            [1, 2],
          ),
        ]),
        plan.risks.length > 0 && heading(2, say('risks')),
        list(plan.risks),
      ],
    }),
  )
  const summary = plan.objectives.map(({ objective }) => objective).join(' · ')
  return { summary, documents: [document], table: { columns, rows } }
}

const Outline = z.object({
  title: z.string().min(3).max(100),
  headings: z.array(z.string().min(2).max(80)).min(3).max(5),
})

async function strategy(context: AgentContext, facts: Fact[], stand: string[]): Promise<Result> {
  const outline = await context.complete('outline', {
    schema: Outline,
    facts,
    task: 'Plan the strategy paper the user asked for: title and headings, from the situation to decisions and next steps.',
  })
  context.expect(6 + outline.headings.length)
  const blocks = await sections(context, {
    headings: outline.headings,
    about: outline.title,
    facts,
  })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'ceo',
      title: outline.title,
      blocks: [...stand, ...blocks],
    }),
  )
  return { summary: outline.headings.join(' · '), documents: [document] }
}
