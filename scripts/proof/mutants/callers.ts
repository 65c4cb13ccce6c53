import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A statement of a schema: what it makes, and the names that it mentions. */
type Made = { name: string; text: string }

const HEAD =
  /^create (?:or replace )?(?:unique )?(?:constraint )?(?:function|table|view|trigger|policy|index|domain|type) (?:if not exists )?(?:[\w."]+ (?:before|after|on)[\s\S]*? on )?(?:\w+\.)?(\w+)/i
const MAX_DEPTH = 3

/** The statements of SQL, each with the name of the function or table that it makes or is about. */
export function statementsOf(sql: string): Made[] {
  const starts = [...sql.matchAll(/^(?:create|alter|grant|revoke) /gim)].map(({ index }) => index)
  return starts.map((start, at) => {
    const text = sql.slice(start, starts[at + 1])
    const about = / on (?:table )?(?:function )?(?:watchpost|private|hub|api)\.(\w+)/i.exec(
      text,
    )?.[1]
    const isAbout = /^create (policy|trigger|constraint trigger|(unique )?index)|^grant|^revoke/i
    const made = HEAD.exec(text)?.[1] ?? /^alter \w+ (?:\w+\.)?(\w+)/i.exec(text)?.[1] ?? ''
    return { name: (isAbout.test(text) ? about : undefined) ?? made, text }
  })
}

/**
 * The names by which a place in SQL is reached: that of its own statement, then those of the
 * functions that mention it, then of those that mention these. By name, how far away it is.
 */
export function reachedBy(schema: Made[], name: string): Map<string, number> {
  const depths = new Map([[name, 0]])
  for (let depth = 1; depth <= MAX_DEPTH; depth += 1) {
    const known = [...depths].filter(([, its]) => its === depth - 1).map(([one]) => one)
    if (known.length === 0) break
    const mentions = new RegExp(`\\b(${known.join('|')})\\b`)
    for (const { name: caller, text } of schema) {
      if (!depths.has(caller) && /^create (or replace )?(function|trigger)/i.test(text)) {
        if (mentions.test(text)) depths.set(caller, depth)
      }
    }
  }
  return depths
}

/** The name of the statement around a place. */
export const nameAt = (sql: string, at: number): string =>
  statementsOf(sql.slice(0, at)).at(-1)?.name ?? ''

/** All statements of the schema that a file belongs to. */
export function schemaOf(root: string, source: string): Made[] {
  const files = globSync(source.startsWith('hub/') ? 'hub/sql/*.sql' : 'sql/*.sql', { cwd: root })
  return files.flatMap((file) => statementsOf(readFileSync(join(root, file), 'utf8')))
}
