import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { ModelError } from '../model/error.ts'
import { heading, list, plain, table } from '../projects/markdown.ts'
import { ACTION_NAMES, ACTION_WORDS, ActionName, isDestructive } from './actions.ts'
import { type Agent, type AgentContext, COMMON, type Fact, MissionFailure } from './agent.ts'
import { faultIn } from './health/explanation.ts'
import { findingsText } from './health/findings.text.ts'
import {
  type Finding,
  findingsOf,
  fixesOf,
  type Measured,
  shownMeasures,
} from './health/findings.ts'
import { one } from './run/facts.ts'
import { saveDocument } from './writing.ts'

const Diagnosis = z.object({
  explanation: z.string().min(10).max(700),
  severity: z.enum(['low', 'high', 'critical']),
  proposals: z.array(z.object({ action: ActionName, why: z.string().max(240) })).max(3),
})

const WORDS = {
  title: { en: 'Health of the hub', tr: 'Hub sağlığı' },
  measured: { en: 'Measured', tr: 'Ölçülenler' },
  cause: { en: 'Explanation', tr: 'Açıklama' },
  fixes: { en: 'Proposed fixes', tr: 'Önerilen çözümler' },
  name: { en: 'What', tr: 'Ne' },
  value: { en: 'Value', tr: 'Değer' },
  low: { en: 'Severity: low', tr: 'Önem derecesi: düşük' },
  high: { en: 'Severity: high', tr: 'Önem derecesi: yüksek' },
  critical: { en: 'Severity: critical', tr: 'Önem derecesi: kritik' },
  unable: { en: 'This hub cannot do that by itself: {x}', tr: 'Hub bunu kendisi yapamaz: {x}' },
} satisfies Record<string, Words>

/**
 * For a health alert: measures, explains, and proposes actions from a fixed list; each needs an
 * approval.
 */
export const system: Agent = {
  name: 'system',
  role: {
    en: 'Explains health alerts and proposes safe fixes',
    tr: 'Sağlık uyarılarını açıklar, güvenli çözümler önerir',
  },
  variables: {
    ...COMMON,
    actions: () => ACTION_NAMES.map((name) => `${name}: ${ACTION_WORDS[name].en}`).join('\n'),
  },
  budget: { steps: 6, tokens: 10_000 },
  steps: async (context) => {
    context.expect(4)
    const { language } = context
    const say = (word: keyof typeof WORDS) => WORDS[word][language]
    const measured = await context.outside('measured', () => context.actions.health())
    const { alert } = context.mission.input
    const findings = findingsOf(measured, alert)
    const facts: Fact[] = [
      {
        label: 'measured',
        text: Object.entries(measured)
          .map(([name, value]) => `${name}: ${value ?? '–'}`)
          .join('\n'),
      },
      ...(findings.length > 0
        ? [{ label: 'what is out of range', text: findings.map(({ says }) => says.en).join('\n') }]
        : []),
    ]
    if (alert)
      facts.push({ label: 'alert', text: `${one(alert.kind)}: ${one(alert.message, 1000)}` })
    const diagnosis = await explain(context, { facts, findings, measured })
    const wanted = diagnosis.proposals.filter(
      ({ action }, index, all) => all.findIndex((other) => other.action === action) === index,
    )
    const approvals = await context.step('approvals', async (sql) => {
      const ids: string[] = []
      for (const { action, why } of wanted) {
        if (!context.actions.run[action]) continue
        ids.push(
          await context.propose(sql, {
            kind: isDestructive(action) ? 'destructive' : 'external',
            title: ACTION_WORDS[action],
            action: { do: action, why: one(why) },
          }),
        )
      }
      return ids
    })
    const fixes = wanted.map(({ action, why }) => {
      const text = ACTION_WORDS[action][language]
      return [context.actions.run[action] ? text : say('unable').replace('{x}', text), why]
    })
    const document = await context.outside('document', () =>
      saveDocument(context, {
        agent: 'system',
        title: say('title'),
        blocks: [
          heading(2, say('cause')),
          diagnosis.severity !== undefined && plain(say(diagnosis.severity)),
          plain(diagnosis.opening),
          list(findings.map(({ says }) => says[language])),
          diagnosis.note !== undefined && plain(diagnosis.note),
          heading(2, say('measured')),
          table([say('name'), say('value')], shownMeasures(measured, language), [1]),
          fixes.length > 0 && heading(2, say('fixes')),
          fixes.length > 0 && table([say('name'), ''], fixes),
        ],
      }),
    )
    return { summary: diagnosis.explanation, documents: [document], approvals }
  },
}

type Explained = Pick<z.infer<typeof Diagnosis>, 'explanation' | 'proposals'> & {
  /** What the document says before the list of what is out of range, without saying that list again. */
  opening: string
  /** The model's word for it; code alone has none. */
  severity?: z.infer<typeof Diagnosis>['severity']
  note?: string
}

/**
 * What is the matter: by the model if its answer holds, else by code. The model may be what the
 * report is about, so the report never waits for it.
 */
async function explain(
  context: AgentContext,
  given: { facts: Fact[]; findings: Finding[]; measured: Measured },
): Promise<Explained> {
  const { facts, findings, measured } = given
  const { language } = context
  const text = findingsText[language]
  const byCode = (why: string): Explained => {
    const { alert } = context.mission.input
    const raised = alert ? [one(alert.message, 300).replace(/(?<![.!?…])$/, '.')] : []
    const well = findings.length > 0 ? [] : [text.well]
    return {
      explanation: [...raised, ...findings.map(({ says }) => says[language]), ...well].join(' '),
      opening: [...raised, ...well].join(' '),
      proposals: fixesOf(findings, language),
      note: text.by_code(why),
    }
  }
  const { model_state } = measured
  if (typeof model_state === 'string' && model_state !== 'ready') return byCode(text.not_ready)
  try {
    const said = await context.complete('diagnosis', {
      schema: Diagnosis,
      facts,
      task: 'Explain in plain words what is the matter, from the measured numbers only, and propose at most three of the listed actions, or none.',
      check: ({ explanation, proposals }) =>
        faultIn([explanation, ...proposals.map(({ why }) => why)], {
          known: facts.map(({ text }) => text),
          language,
        }),
    })
    return { ...said, opening: said.explanation }
  } catch (error) {
    if (error instanceof MissionFailure) return byCode(error.words[language])
    if (!(error instanceof ModelError) || error.reason === 'cancelled') throw error
    return byCode(error.words[language])
  }
}
