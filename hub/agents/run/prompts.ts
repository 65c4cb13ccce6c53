import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { applyPatch, createTwoFilesPatch } from 'diff'
import { z } from 'zod'
import type { Paths } from '../../config.ts'
import { readJson, readText, writeJson, writeWhole } from '../../files.ts'
import { WordsError } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { fillTemplate, namesIn } from '../../template.ts'
import type { Agent, AgentContext } from '../agent.ts'
import { AGENT_NAMES, type AgentName } from '../names.ts'
import { stopText } from '../stop.text.ts'
import { ruleLine } from './project-rules.ts'

const DEFAULTS = join(import.meta.dirname, '../../prompts')

export const MAX_PROMPT = 8000

/** defaultPrompt returns the prompt of this release. */
export async function defaultPrompt(agent: AgentName): Promise<string> {
  const text = await readText(join(DEFAULTS, `${agent}.md`))
  if (text === undefined) throw new Error(`hub/prompts/${agent}.md is missing: install anew.`)
  return text
}

const file = (paths: Paths, agent: AgentName) => join(paths.prompts_dir, `${agent}.md`)

/** The prompt in use: the user's file, or else the default. */
export async function currentPrompt(paths: Paths, agent: AgentName): Promise<string> {
  return (await readText(file(paths, agent))) ?? defaultPrompt(agent)
}

/** writePrompt stores the user's text, which upgrades do not change. */
export async function writePrompt(paths: Paths, agent: AgentName, text: string): Promise<void> {
  await writeWhole(file(paths, agent), text.endsWith('\n') ? text : `${text}\n`, 0o640)
}

/** restorePrompt restores the default, which upgrades replace again from then on. */
export async function restorePrompt(paths: Paths, agent: AgentName): Promise<void> {
  const text = await defaultPrompt(agent)
  await writePrompt(paths, agent, text)
  await remember(paths, { ...(await shipped(paths)), [agent]: text })
}

/** What an upgrade changed in the default of a prompt that was edited, and so stayed as it was. */
export type NewDefault = {
  /**
   * A unified diff from the default that the edit began with; null where that text was not kept
   * (releases before this one kept its hash only).
   */
  diff: string | null
  /** The prompt in use with these changes made to it; null where they do not fit. */
  merged: string | null
}

/** newDefault returns what the person who edited a prompt has not seen of today's default, if any. */
export async function newDefault(paths: Paths, agent: AgentName): Promise<NewDefault | null> {
  const base = (await shipped(paths))[agent]
  const [current, ours] = [await currentPrompt(paths, agent), await defaultPrompt(agent)]
  if (!base || isText(base, ours) || current === ours) return null
  if (HASH.test(base)) return { diff: null, merged: null }
  const diff = promptDiff(agent, base, ours)
  const merged = applyPatch(current, diff)
  return { diff, merged: merged === false ? null : merged }
}

/** acceptDefault remembers that today's default was seen; the prompt in use stays. */
export async function acceptDefault(paths: Paths, agent: AgentName): Promise<void> {
  await remember(paths, { ...(await shipped(paths)), [agent]: await defaultPrompt(agent) })
}

/**
 * The difference between the prompt in use and the default, as a unified diff; empty if there is
 * none.
 */
export function promptDiff(agent: AgentName, shipped: string, current: string): string {
  if (shipped === current) return ''
  return createTwoFilesPatch(`${agent}.md (default)`, `${agent}.md`, shipped, current).replace(
    /^=+\n/,
    '',
  )
}

/**
 * ensurePrompts writes all prompts to the folder where people look for them. A prompt that nobody
 * has edited becomes this release's default; an edited one stays. Returns the agents whose prompt
 * it wrote.
 */
export async function ensurePrompts(paths: Paths): Promise<AgentName[]> {
  const known = await shipped(paths)
  const next: Record<string, string> = {}
  const written: AgentName[] = []
  for (const agent of AGENT_NAMES) {
    const ours = await defaultPrompt(agent)
    const theirs = await readText(file(paths, agent))
    const base = known[agent] ?? ''
    const isUntouched = theirs === undefined || theirs === ours || isText(base, theirs)
    if (isUntouched && theirs !== ours) {
      await writePrompt(paths, agent, ours)
      written.push(agent)
    }
    next[agent] = isUntouched || isText(base, ours) ? ours : base
  }
  if (JSON.stringify(next) !== JSON.stringify(known)) await remember(paths, next)
  return written
}

/** The default that each prompt began with: its text, or its SHA-256 where an older release wrote it. */
const Shipped = z.record(z.string(), z.string())
const HASH = /^[0-9a-f]{64}$/
const isText = (base: string, text: string) => base === text || base === digest(text)

async function shipped(paths: Paths): Promise<Record<string, string>> {
  const read = Shipped.safeParse(await readJson(shippedFile(paths)).catch(() => ({})))
  return read.success ? read.data : {}
}

const shippedFile = (paths: Paths) => join(paths.prompts_dir, '.shipped.json')
const remember = (paths: Paths, texts: Record<string, string>) =>
  writeJson(shippedFile(paths), texts, 0o640)
const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** fillPrompt fills in the values; an unknown variable stays as it is written. */
export async function fillPrompt(
  text: string,
  agent: Pick<Agent, 'name' | 'variables'>,
  context: AgentContext,
): Promise<string> {
  const values: Record<string, string> = {}
  for (const name of readable(agent.name, () => namesIn(text))) {
    const value = Object.hasOwn(agent.variables, name) ? agent.variables[name] : undefined
    values[name] = value ? await value(context) : `{{${name}}}`
  }
  return readable(agent.name, () => fillTemplate(text, values, { encode: (value) => value }))
}

function readable<T>(agent: AgentName, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new WordsError(bilingual(stopText).prompt_unreadable(agent, why), { cause: error })
  }
}

/** addRule adds a rule to the prompt in use, once: it then applies in all projects. */
export async function addRule(paths: Paths, agent: AgentName, rule: string): Promise<void> {
  const current = await currentPrompt(paths, agent)
  const line = ruleLine(rule)
  if (current.split('\n').includes(line)) return
  const heading = '## Learned'
  const text = current.includes(`\n${heading}\n`)
    ? `${current.trimEnd()}\n${line}\n`
    : `${current.trimEnd()}\n\n${heading}\n\n${line}\n`
  if (text.length > MAX_PROMPT) {
    throw new WordsError(bilingual(stopText).prompt_full(agent, MAX_PROMPT))
  }
  await writePrompt(paths, agent, text)
}
