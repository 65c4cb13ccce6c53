import { z } from 'zod'
import type { Sql } from '../../shared/sql.ts'
import type { Project } from '../db/db.ts'
import { WordsError } from '../i18n/failure.ts'
import { bilingual, LANGUAGES, type Language, type Words } from '../i18n/words.ts'
import { type Audience, AudienceFilter } from '../mail/drafts/audience.ts'
import type { TemplateName } from '../mail/render/slots.ts'
import { briefFor } from '../projects/brief.ts'
import type { Reading } from '../reader/web-reader.ts'
import type { Actions } from './actions.ts'
import { leftOutText } from './left-out.text.ts'
import type { AgentName } from './names.ts'
import type { StepName } from './step-names.ts'

/**
 * What a mission may be given in addition to its task, so that nobody has to write ids into a
 * sentence.
 */
export const MissionInput = z.strictObject({
  /** A pasted table or text. */
  text: z.string().max(1_500_000).optional(),
  /** Files in the project's folder, e.g. `leads/fair.csv`. */
  files: z.array(z.string().min(1).max(300)).max(20).optional(),
  lead_ids: z.array(z.uuid()).max(50).optional(),
  /** A campaign to chosen leads. */
  filter: AudienceFilter.optional(),
  draft_id: z.uuid().optional(),
  urls: z
    .array(z.url({ protocol: /^https?$/ }).max(1000))
    .max(10)
    .optional(),
  /** The language of who asks, for a task that shows none itself: `/gelistir`, `rakip analizi`. */
  language: z.enum(LANGUAGES).optional(),
  /** What caused a mission of the system agent. */
  alert: z.strictObject({ kind: z.string().max(60), message: z.string().max(2000) }).optional(),
})
export type MissionInput = z.infer<typeof MissionInput>

export const MAX_SUMMARY = 4000

/** The result of a mission. Paths are relative to the project's folder. */
export const Result = z.object({
  summary: z.string().max(MAX_SUMMARY),
  documents: z.array(z.object({ path: z.string(), title: z.string() })).default([]),
  table: z
    .object({
      columns: z.array(z.string()),
      rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
    })
    .optional(),
  chart: z.object({ kind: z.enum(['bar', 'line']), x: z.string(), y: z.string() }).optional(),
  sql: z.string().optional(),
  leads: z.array(z.uuid()).optional(),
  drafts: z.array(z.uuid()).optional(),
  sequences: z.array(z.uuid()).optional(),
  approvals: z.array(z.uuid()).optional(),
  /** Tasks that are worth giving next, as a person would write them. */
  follow_ups: z.array(z.string().max(200)).max(5).optional(),
})
export type Result = z.infer<typeof Result>

/** Facts: data for the model, enclosed in a fence; instructions in them are only data. */
export type Fact = { label: string; text: string }

export type Call<S extends z.ZodType> = {
  schema: S
  /** What to do now, in our own words, never in those of a lead or the web. */
  task: string
  facts?: Fact[]
  max_tokens?: number
  /**
   * Checks what a schema cannot express; if it returns a sentence, that goes back to the model
   * once.
   */
  check?: (value: z.output<S>) => Words | undefined
  /**
   * What happens if the second answer is wrong too: the mission stops, or code repairs the answer.
   */
  if_wrong?: 'stop' | 'keep'
}

/** A mission that a later one goes on from. */
export type Earlier = {
  id: string
  department: AgentName
  task: string
  input: MissionInput
  result: Result | null
  /** The leads that it took, where it works on leads. */
  lead_ids: string[]
  drafts: { id: string; audience: Audience; subject: string; text: string; state: string }[]
}

/** The work that a mission goes on from. */
export type Thread = {
  /** What the user says now; the task has the words from the beginning. */
  words: string
  /** The missions before, the first one first. */
  earlier: Earlier[]
}

/** The mission fails here, for a reason that its user can read. */
export class MissionFailure extends WordsError {}

/** The mission goes back to the queue until somebody approves or rejects. */
export class ApprovalNeeded extends WordsError {}

/**
 * External and destructive actions need an approval; the other two are changes that somebody
 * accepts or not.
 */
export type ApprovalRequest = {
  kind: 'external' | 'destructive' | 'prompt' | 'process'
  title: Words
  action: { do: string; [detail: string]: unknown }
}

/**
 * What an agent works with. Steps are stored, so that a mission continues after the last one when
 * the hub was killed.
 */
export type AgentContext = {
  /** Of a mission that continues another, `task` has the words of all of them, the newest last. */
  mission: { id: string; task: string; input: MissionInput; created_on: string }
  /** The work that this mission goes on from. */
  thread?: Thread
  project: Project
  /** The language that the mission writes in. */
  language: Language
  /** The language that its task asks for, where it names one. */
  named_language: Language | undefined
  /** Writes in another language from here on. */
  speak: (language: Language) => void
  /** The project's CONTEXT.md as it is on disk. */
  brief: string
  signal: AbortSignal
  /** Sets the number of steps to expect, for the progress bar. */
  expect: (steps: number) => void
  /** A step in code. What it writes and the record that it is done are one transaction. */
  step: <T>(name: StepName, work: (sql: Sql) => Promise<T>) => Promise<T>
  /** A step that reads or computes outside the database; it may run twice. */
  outside: <T>(name: StepName, work: () => Promise<T>) => Promise<T>
  /** A step that calls the model once, with a schema; once more if `check` objects. */
  complete: <S extends z.ZodType>(name: StepName, call: Call<S>) => Promise<z.output<S>>
  /** Records something that was given and not used, which the mission then tells; kept with the next step. */
  leaveOut: (what: Words) => void
  /** Writes a file in the project's folder and returns its path. */
  write: (path: string, content: string | Uint8Array) => Promise<string>
  read: (path: string) => Promise<string | undefined>
  list: (folder: string) => Promise<string[]>
  /** The leads of a filter who have an address, with what says their language. */
  readers: (
    sql: Sql,
    filter: AudienceFilter,
  ) => Promise<{ id: string; country: string | null; language: string | null }[]>
  /** What stands below every mail of the project, in the language of the mission. */
  footer: () => Promise<string[]>
  /** Proposes an action that needs an approval, and continues. Returns the approval's id. */
  propose: (sql: Sql, request: ApprovalRequest) => Promise<string>
  /** Asks for an approval and waits for it; a rejection ends the mission. */
  ask: (name: StepName, request: ApprovalRequest) => Promise<void>
  /** Renders a draft from its slots: `draft` → `rendered`. */
  render: (
    sql: Sql,
    draft: { id: string; template?: TemplateName; slots?: Record<string, unknown> },
  ) => Promise<void>
  /** How many sentences of a draft its approval will wait for: see docs/hub/evidence.md. */
  held: (sql: Sql, draft_id: string) => Promise<number>
  /** Runs a query with the rights of the data agent: read-only, one statement, limited. */
  query: (statement: string) => Promise<{ columns: string[]; rows: unknown[][]; is_cut: boolean }>
  actions: Actions
  /** The browser, if there is one. */
  reader: {
    isThere: () => Promise<boolean>
    read: (url: string, signal: AbortSignal) => Promise<Reading>
  }
}

/** An agent: steps in code, each with at most one call of the model, bound to a schema. */
export type Agent = {
  name: AgentName
  role: Words
  /** What its prompt may use in addition to COMMON, as `{{name}}`. */
  variables: Record<string, (context: AgentContext) => string | Promise<string>>
  budget: { steps: number; tokens: number }
  steps: (context: AgentContext) => Promise<Result>
}

const say = bilingual(leftOutText)
/** Characters of CONTEXT.md that a prompt has. */
export const MAX_BRIEF = 6000

/** What every prompt may use. */
export const COMMON: Agent['variables'] = {
  project: ({ project }) => project.name,
  context: ({ brief, mission, leaveOut }) => {
    const { text, left, is_cut } = briefFor(brief, mission.task, MAX_BRIEF)
    if (is_cut) leaveOut(say.cut(say.brief, MAX_BRIEF, brief.length))
    if (left.length > 0) leaveOut(say.sections(left.join(', ')))
    return text
  },
}
