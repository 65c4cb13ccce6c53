import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Paths } from '../../config.ts'
import { readText, writeWhole } from '../../files.ts'
import { WordsError } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { folderOf } from '../../projects/project-folder.ts'
import { AGENT_NAMES, type AgentName } from '../names.ts'
import { stopText } from '../stop.text.ts'

// What an agent has learned for one project: a file in the project's folder, which people may edit.

export const MAX_RULES = 4000

const file = (paths: Paths, slug: string, agent: AgentName) =>
  join(folderOf(paths, slug), 'rules', `${agent}.md`)

/** ruleLine writes a rule as one line of a list; without braces, which a prompt would fill in. */
export const ruleLine = (rule: string) =>
  `- ${rule.replace(/\s+/g, ' ').replace(/[{}]/g, '').trim()}`

/** readRules returns the rules of an agent in a project, one in a line; '' if there are none. */
export async function readRules(paths: Paths, slug: string, agent: AgentName): Promise<string> {
  return ((await readText(file(paths, slug, agent))) ?? '').trim()
}

/** allRules returns the rules of every agent that has some in a project. */
export async function allRules(
  paths: Paths,
  slug: string,
): Promise<{ agent: AgentName; text: string }[]> {
  const rules = await Promise.all(
    AGENT_NAMES.map(async (agent) => ({ agent, text: await readRules(paths, slug, agent) })),
  )
  return rules.filter(({ text }) => text !== '')
}

/** writeRules replaces the rules of an agent in a project; an empty text removes them. */
export async function writeRules(
  paths: Paths,
  { slug, agent, text }: { slug: string; agent: AgentName; text: string },
): Promise<void> {
  const path = file(paths, slug, agent)
  const trimmed = text.trim()
  if (trimmed === '') return rm(path, { force: true })
  await writeWhole(path, `${trimmed}\n`, 0o640)
}

/** addProjectRule adds a rule to those of an agent in a project, once. */
export async function addProjectRule(
  paths: Paths,
  { slug, agent, rule }: { slug: string; agent: AgentName; rule: string },
): Promise<void> {
  const now = await readRules(paths, slug, agent)
  const line = ruleLine(rule)
  if (now.split('\n').includes(line)) return
  const text = now === '' ? line : `${now}\n${line}`
  if (text.length > MAX_RULES) {
    throw new WordsError(bilingual(stopText).rules_full(agent, MAX_RULES))
  }
  await writeRules(paths, { slug, agent, text })
}

/** withRules returns an agent's prompt with the rules of a project below it, or throws if they are too long. */
export async function withRules(
  prompt: string,
  { paths, slug, agent }: { paths: Paths; slug: string; agent: AgentName },
): Promise<string> {
  const rules = await readRules(paths, slug, agent)
  // A file that people edit may be longer; an agent that follows half of it would do wrong.
  if (rules.length > MAX_RULES) {
    throw new WordsError(bilingual(stopText).rules_long(agent, rules.length, MAX_RULES))
  }
  return rules === '' ? prompt : `${prompt.trimEnd()}\n\n## Learned in this project\n\n${rules}\n`
}
