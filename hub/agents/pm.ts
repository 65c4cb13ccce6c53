import { z } from 'zod'
import { verbatim, type Words } from '../i18n/words.ts'
import { heading, plain, quote, table } from '../projects/markdown.ts'
import { type Agent, type AgentContext, COMMON, type Fact } from './agent.ts'
import { agentName } from './names.text.ts'
import { AGENT_NAMES } from './names.ts'
import { signalsOf } from './numbers/signals.ts'
import { type Weeks, weeksFact, weeksOf, weeksSentence, weeksTable } from './numbers/weeks.ts'
import { one } from './run/facts.ts'
import { saveDocument } from './writing.ts'

const Proposals = z.object({
  findings: z.array(z.string().max(220)).max(5),
  proposals: z
    .array(
      z.object({
        kind: z.enum(['prompt', 'process']),
        agent: z.enum(AGENT_NAMES),
        title: z.string().min(5).max(120),
        why: z.string().max(300),
        rule: z.string().min(10).max(300),
      }),
    )
    .max(3),
})

const WORDS = {
  title: { en: 'What to improve', tr: 'Neyi iyileştirmeli' },
  findings: { en: 'Findings', tr: 'Bulgular' },
  proposals: { en: 'Proposals', tr: 'Öneriler' },
  outcomes: { en: 'Outcomes of 14 days', tr: '14 günün sonuçları' },
  columns: { en: 'Agent,Done,Failed,Cancelled', tr: 'Ajan,Biten,Başarısız,İptal' },
  nothing: {
    en: 'Nothing has failed, no draft was rejected or rewritten, and no mail has an outcome yet: there is nothing to change.',
    tr: 'Başarısız görev, reddedilen ya da düzeltilen taslak ve sonucu belli e-posta yok: değiştirilecek bir şey yok.',
  },
  waiting: {
    en: 'Proposals that wait for your yes or no: {n}.',
    tr: '{n} öneri onayınızı bekliyor.',
  },
} satisfies Record<string, Words>

type Seen = { outcomes: Outcome[]; weeks: Weeks; facts: Fact[] }
type Outcome = { department: string; done: number; failed: number; cancelled: number }

/** Proposes improvements; a prompt only changes after an approval. */
export const pm: Agent = {
  name: 'pm',
  role: {
    en: 'Learns from outcomes and proposes better prompts and processes',
    tr: 'Sonuçlardan öğrenir, daha iyi istem ve süreçler önerir',
  },
  variables: { ...COMMON, agents: () => AGENT_NAMES.join(', ') },
  budget: { steps: 6, tokens: 10_000 },
  steps: async (context) => {
    context.expect(4)
    const seen = await look(context)
    const week = weeksTable(seen.weeks, context.language)
    const moved = weeksSentence(seen.weeks, context.language)
    const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
    const outcomes = table(
      say('columns').split(','),
      seen.outcomes.map(({ department, done, failed, cancelled }) => [
        agentName(context.language, department),
        done,
        failed,
        cancelled,
      ]),
      [1, 2, 3],
    )
    if (seen.facts.length === 0) {
      const document = await context.outside('document', () =>
        saveDocument(context, {
          agent: 'pm',
          title: say('title'),
          blocks: [plain(say('nothing')), ...week, heading(2, say('outcomes')), outcomes],
        }),
      )
      return { summary: `${say('nothing')} ${moved}`, documents: [document] }
    }
    const thought = await context.complete('proposals', {
      schema: Proposals,
      facts: [weeksFact(seen.weeks), ...seen.facts],
      task:
        'Say what went wrong and what worked, from failures, replies, bounces and what people changed in drafts, and propose at most three changes. "prompt": one rule to be added to the prompt of an agent. ' +
        '"process": something the people should do differently, said as the rule, for the agent whose work it is about. Propose nothing that the data do not call for.',
    })
    const approvals = await context.step('approvals', async (sql) => {
      const ids: string[] = []
      for (const { kind, agent, title, why, rule } of thought.proposals) {
        const action =
          kind === 'prompt'
            ? { do: 'add_prompt_rule', for: 'project', agent, rule: one(rule), why: one(why) }
            : { do: 'note_process', agent, rule: one(rule), why: one(why) }
        ids.push(await context.propose(sql, { kind, title: verbatim(one(title)), action }))
      }
      return ids
    })
    const document = await context.outside('document', () =>
      saveDocument(context, {
        agent: 'pm',
        title: say('title'),
        blocks: [
          ...week,
          heading(2, say('outcomes')),
          outcomes,
          heading(2, say('findings')),
          ...thought.findings.map(plain),
          heading(2, say('proposals')),
          ...thought.proposals.flatMap(({ agent, title, why, rule }) => [
            heading(3, `${agentName(context.language, agent)}: ${title}`),
            plain(why),
            quote(rule),
          ]),
        ],
      }),
    )
    const summary = `${say('waiting').replace('{n}', String(approvals.length))} ${moved}`
    return { summary, documents: [document], approvals }
  },
}

async function look(context: AgentContext): Promise<Seen> {
  return context.step('outcomes', async (sql) => {
    const outcomes = await sql<Outcome>`
      select department,
        count(*) filter (where status = 'done') as done,
        count(*) filter (where status = 'failed') as failed,
        count(*) filter (where status = 'cancelled') as cancelled
      from hub.missions
      where finished_at > now() - interval '14 days' and id <> ${context.mission.id}
      group by department order by failed desc, department`
    const failed = await sql<{ department: string; task: string; reason: string | null }>`
      select department, task, reason ->> 'en' as reason from hub.missions
      where status in ('failed', 'cancelled') and finished_at > now() - interval '14 days'
        and id <> ${context.mission.id}
      order by finished_at desc, id limit 10`
    const rejected = await sql<{ subject: string; state_reason: string | null }>`
      select subject, state_reason ->> 'en' as state_reason from hub.drafts
      where state in ('rejected', 'failed') and updated_at > now() - interval '14 days'
      order by updated_at desc, id limit 10`
    const facts: Fact[] = []
    if (failed.length > 0) {
      facts.push({
        label: 'missions that failed',
        text: failed
          .map(
            ({ department, task, reason }) =>
              `${department}: ${one(task, 120)} | ${one(reason, 240)}`,
          )
          .join('\n'),
      })
    }
    if (rejected.length > 0) {
      facts.push({
        label: 'drafts that were rejected',
        text: rejected
          .map(({ subject, state_reason }) => `${one(subject, 120)} | ${one(state_reason, 200)}`)
          .join('\n'),
      })
    }
    return { outcomes, weeks: await weeksOf(sql), facts: [...facts, ...(await signalsOf(sql))] }
  })
}
