import { z } from 'zod'
import type { Sql } from '../../shared/sql.ts'
import type { Project } from '../db/db.ts'
import { WordsError } from '../i18n/failure.ts'
import type { Language, Words } from '../i18n/words.ts'
import { AudienceFilter } from '../mail/drafts/audience.ts'
import type { TemplateName } from '../mail/render/slots.ts'
import type { Reading } from '../reader/web-reader.ts'
import type { Actions } from './actions.ts'
import type { AgentName } from './names.ts'
import type { StepName } from './step-names.ts'

/** What a mission may be given besides its task, so that nobody has to spell ids out in words. */
export const MissionInput = z.strictObject({
  /** A pasted table or text. */
  text: z.string().max(1_500_000).optional(),
  /** Files of the project's folder, e.g. `leads/fair.csv`. */
  files: z.array(z.string().min(1).max(300)).max(20).optional(),
  lead_ids: z.array(z.uuid()).max(50).optional(),
  /** A campaign to chosen leads. */
  filter: AudienceFilter.optional(),
  draft_id: z.uuid().optional(),
  urls: z
    .array(z.url({ protocol: /^https?$/ }).max(1000))
    .max(10)
    .optional(),
  /** What set off a mission of the system agent. */
  alert: z.strictObject({ kind: z.string().max(60), message: z.string().max(2000) }).optional(),
})
export type MissionInput = z.infer<typeof MissionInput>

/** What a mission leaves behind. Paths are relative to the project's folder. */
export const Result = z.object({
  summary: z.string().max(4000),
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
  approvals: z.array(z.uuid()).optional(),
})
export type Result = z.infer<typeof Result>

/** Facts: data for the model, fenced in; whatever orders stand in them are only data. */
export type Fact = { label: string; text: string }

export type Call<S extends z.ZodType> = {
  schema: S
  /** What is to be done now: ours, never a lead's or the web's words. */
  task: string
  facts?: Fact[]
  max_tokens?: number
  /** What a schema cannot say; an answer is what is wrong and goes back to the model once. */
  check?: (value: z.output<S>) => Words | undefined
  /** What happens when the second answer is no better: the mission stops, or code repairs it. */
  if_wrong?: 'stop' | 'keep'
}

/** MissionFailure: the mission ends here as failed, for a reason its user reads. */
export class MissionFailure extends WordsError {}

/** ApprovalNeeded: the mission goes back to the queue until somebody has said yes or no. */
export class ApprovalNeeded extends WordsError {}

/**
 * External and destructive things need a yes; the two others are changes that somebody takes or
 * leaves.
 */
export type ApprovalRequest = {
  kind: 'external' | 'destructive' | 'prompt' | 'process'
  title: Words
  action: { do: string; [detail: string]: unknown }
}

/**
 * What an agent works with. Steps are remembered: a mission that was killed goes on behind the
 * last.
 */
export type AgentContext = {
  mission: { id: string; task: string; input: MissionInput; created_on: string }
  project: Project
  language: Language
  /** The project's CONTEXT.md as it is on disk. */
  brief: string
  signal: AbortSignal
  /** So many steps are to be expected; for the progress bar. */
  expect: (steps: number) => void
  /** A coded step. What it writes and the note that it is done are one transaction. */
  step: <T>(name: StepName, work: (sql: Sql) => Promise<T>) => Promise<T>
  /** A step that reads or computes outside the database; it may run twice. */
  outside: <T>(name: StepName, work: () => Promise<T>) => Promise<T>
  /** A step that asks the model once, within the schema; once more when `check` objects. */
  complete: <S extends z.ZodType>(name: StepName, call: Call<S>) => Promise<z.output<S>>
  /** Writes a file of the project's folder and answers its path. */
  write: (path: string, content: string | Uint8Array) => Promise<string>
  read: (path: string) => Promise<string | undefined>
  list: (folder: string) => Promise<string[]>
  /** Proposes what needs a yes, and goes on. Answers the approval's id. */
  propose: (sql: Sql, request: ApprovalRequest) => Promise<string>
  /** Asks for a yes and waits for it; a no ends the mission. */
  ask: (name: StepName, request: ApprovalRequest) => Promise<void>
  /** Renders a draft from its slots: `draft` → `rendered`. */
  render: (
    sql: Sql,
    draft: { id: string; template?: TemplateName; slots?: Record<string, unknown> },
  ) => Promise<void>
  /** Runs a query with the rights of the data agent: read-only, one statement, limited. */
  query: (statement: string) => Promise<{ columns: string[]; rows: unknown[][]; is_cut: boolean }>
  actions: Actions
  /** The browser, where there is one. */
  reader: {
    isThere: () => Promise<boolean>
    read: (url: string, signal: AbortSignal) => Promise<Reading>
  }
}

/** One agent: coded steps, each with at most one call of the model, held to a schema. */
export type Agent = {
  name: AgentName
  role: Words
  /** What its prompt may use besides COMMON, as `{{name}}`. */
  variables: Record<string, (context: AgentContext) => string | Promise<string>>
  budget: { steps: number; tokens: number }
  steps: (context: AgentContext) => Promise<Result>
}

const MAX_BRIEF = 6000

/** What every prompt may use. */
export const COMMON: Agent['variables'] = {
  project: ({ project }) => project.name,
  context: ({ brief }) => brief.slice(0, MAX_BRIEF),
}
