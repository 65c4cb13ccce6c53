import { z } from 'zod'
import type { AgentContext, ApprovalRequest, MissionInput } from '../../../hub/agents/agent.ts'
import { AGENTS } from '../../../hub/agents/agents.ts'
import type { AgentName } from '../../../hub/agents/names.ts'
import type { Language } from '../../../hub/i18n/words.ts'
import { type Sql, sqlOn } from '../../../shared/sql.ts'

/** What an agent meets in a run without a hub, a database and a model. */
export type Scene = {
  agent: AgentName
  /** What the user asks for, in both languages. */
  task: Record<Language, string>
  input?: MissionInput
  brief?: string
  website?: string | null
  /** What the model answers at each step; several, if it is asked again. */
  answers?: Record<string, unknown>
  /** What the database answers to the statements that match, whatever they ask for or by their values. */
  rows?: [statement: RegExp, rows: unknown[] | ((params: unknown[]) => unknown[])][]
  files?: Record<string, string>
  /** What else the context has, in place of a hub. */
  more?: Partial<AgentContext>
}

/** Runs an agent alone, and writes down all that it asks for, stores, writes and answers. */
export async function runAlone(scene: Scene, language: Language): Promise<string> {
  const agent = AGENTS[scene.agent]
  const lines: string[] = [`${agent.budget.steps} steps, ${agent.budget.tokens} tokens`]
  const say = (what: string, text = '') =>
    lines.push(`${what}${text && `\n${text.replace(/^/gm, '  ')}`}`)
  const shown = (value: unknown) => JSON.stringify(value, null, 2)
  const { sql, context: rest } = standIns(scene, say)
  const context: AgentContext = {
    mission: {
      id: '11111111-2222-4333-8444-555555555555',
      task: scene.task[language],
      input: scene.input ?? {},
      created_on: '2026-03-01',
    },
    project: {
      id: '99999999-2222-4333-8444-555555555555',
      name: 'Rota',
      slug: 'rota',
      website: scene.website ?? null,
    } as AgentContext['project'], // safe: all that agents read of it
    language,
    named_language: undefined,
    speak: (other) => {
      say(`speaks ${other}`)
      context.language = other
    },
    brief: scene.brief ?? '',
    signal: new AbortController().signal,
    expect: (steps) => void say(`expects ${steps} steps`),
    leaveOut: (what) => void say(`leaves out: ${what[language]}`),
    step: (name, work) => {
      say(`step ${name}`)
      return work(sql)
    },
    outside: (name, work) => {
      say(`step ${name}`)
      return work()
    },
    complete: async (name, { schema, task, facts = [], check, if_wrong }) => {
      say(`asks the model for ${name}: ${task}`)
      for (const fact of facts) say(`[${fact.label}]`, fact.text)
      const { $schema: _, ...form } = z.toJSONSchema(schema)
      say('in the form', JSON.stringify(form))
      const given = scene.answers?.[name]
      const answers = Array.isArray(given) ? [...given] : [given]
      let value = schema.parse(answers.shift())
      const objection = check?.(value)
      if (objection) {
        say(`objects: ${objection[language]}`)
        value = schema.parse(answers.shift())
        const still = check?.(value)
        if (still) say(`objects again (${if_wrong ?? 'stop'}): ${still[language]}`)
      }
      return value
    },
    ...rest,
    ...scene.more,
  }
  for (const [name, value] of Object.entries(agent.variables)) {
    say(`{{${name}}}`, await value(context))
  }
  try {
    say('answers', shown(await agent.steps(context)))
  } catch (error) {
    const { words } = error as { words?: Record<Language, string> }
    if (!words) throw error
    say(`fails: ${words[language]}`)
  }
  return `${lines.join('\n')}\n`
}

/** A database, files and approvals that are only written down. */
function standIns(scene: Scene, say: (what: string, text?: string) => void) {
  let made = 0
  const answer = (text: string, params: unknown[] = []) => {
    const statement = text.replace(/\$\d+/g, '?').replace(/\s+/g, ' ').trim()
    const [word = '', , table = ''] = statement.split(' ')
    if (word !== 'select')
      say(`${word} ${table}`, params.map((one) => JSON.stringify(one)).join('\n'))
    const found = scene.rows?.find(([pattern]) => pattern.test(statement))
    if (found) return typeof found[1] === 'function' ? found[1](params) : found[1]
    made += 1
    return word === 'insert'
      ? [{ id: `44444444-0000-4000-8000-${String(made).padStart(12, '0')}` }]
      : []
  }
  const sql = sqlOn({ query: async (text, values) => ({ rows: answer(text, values) }) })
  const request = ({ kind, title, action }: ApprovalRequest) =>
    say(`proposes ${kind}: ${title.en} | ${title.tr}`, JSON.stringify(action))
  const context = {
    write: async (path: string, content: string | Uint8Array) => {
      say(`writes ${path}`, String(content))
      return path
    },
    read: async (path: string) => scene.files?.[path],
    list: async (folder: string) =>
      Object.keys(scene.files ?? {}).filter((path) => path.startsWith(folder)),
    footer: async () => ['You can unsubscribe at any time.'],
    propose: async (_: Sql, given: ApprovalRequest) => {
      request(given)
      made += 1
      return `approval-${made}`
    },
    ask: async (name: string, given: ApprovalRequest) => {
      say(`asks a person at ${name}`)
      request(given)
    },
    render: async (_: Sql, draft: unknown) => say('renders', JSON.stringify(draft)) as never,
    readers: async () => [],
    held: async () => 0,
    query: async () => ({ columns: [], rows: [], is_cut: false }),
    actions: {
      run: {},
      allowed: async () => ({ web: 'ask', engineer_system: false, improve: 'never' }),
      health: async () => ({}),
      search: async () => ({ results: [] }),
    } as unknown as AgentContext['actions'], // safe: all that agents use of it
    reader: {
      isThere: async () => true,
      read: async () => ({ refused: { en: 'refused', tr: 'reddedildi' } }),
    } as unknown as AgentContext['reader'], // safe: all that agents use of it
  } satisfies Partial<AgentContext>
  return { sql, context }
}
