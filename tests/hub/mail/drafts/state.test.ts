import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const HUB = resolve(import.meta.dirname, '../../../../hub')
/** The last only knows the steps of sequences. */
const OWNERS = [
  'mail/drafts/portion-state.ts',
  'mail/drafts/state-outdated.ts',
  'mail/drafts/state.ts',
  'mail/drafts/step-state.ts',
]

/** The statements in a source that write `drafts.state` or `recipients.state`. */
function stateWrites(source: string): string[] {
  const found = source.matchAll(
    /\b(?:insert into|update(?: only)?)\s+hub\.(drafts|recipients)\b[^`"]*/gi,
  )
  return [...found].flatMap(([statement, table]) => {
    const flat = withoutBrackets(statement.replace(/'[^']*'/g, "''").replace(/\s+/g, ' '))
    const isWrite = /^insert/i.test(flat)
      ? table === 'recipients' || /^[^(]*\([^)]*\bstate\b/i.test(statement)
      : /[\s,(]state\b[^=]*=/.test(settings(flat))
    return isWrite ? [statement] : []
  })
}

/** What an update sets: all between its own `set` and its own `from`, `where` or `returning`. */
const settings = (statement: string) =>
  statement.replace(/^.*?\bset\b/i, '').split(/\b(?:from|where|returning)\b/i)[0] ?? ''

/** A statement without its subqueries and calls; lists of columns stay. */
function withoutBrackets(statement: string): string {
  const next = statement
    .replace(/(\bset|,) ?\(([\w, ]+)\) ?=/gi, '$1 $2 =')
    .replace(/\([^()]*\)/g, 'x')
  return next === statement ? statement : withoutBrackets(next)
}

async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((one) => one.isFile() && /\.(ts|tsx|sql)$/.test(one.name))
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !path.includes('node_modules'))
}

describe('the rule that finds writes of a state', () => {
  test.each([
    "sql`update hub.drafts set state = 'sent' where id = 1`",
    "sql`update hub.recipients set bounce = 'hard', state = 'failed' where email = 'a'`",
    "sql`\n  update hub.drafts\n  set sent_at = now(), state = 'sent'\n  where state = 'sending'`",
    'sql`update hub.recipients as r set retry_at = (select 1), state = old from hub.drafts`',
    "client.query('update hub.recipients set (state, reason) = ($1, $2)')",
    'sql`insert into hub.recipients (draft_id, email) values (1, 2)`',
    "sql`insert into hub.drafts (project_id, state) values (1, 'sent')`",
    "with one as (select 1) update hub.drafts set state = 'failed'",
  ])('finds %s', (source) => {
    expect(stateWrites(source)).toHaveLength(1)
  })

  test.each([
    "sql`update hub.drafts set html = null where state = 'draft'`",
    "sql`update hub.drafts set state_reason = null where state = 'sending'`",
    "sql`update hub.recipients set replied_at = now() where state = 'sent'`",
    "sql`update hub.drafts set sent_at = case when exists (select from hub.recipients where state = 'sent') then now() end`",
    "sql`update hub.campaigns set state = 'void'`",
    'sql`insert into hub.drafts (project_id, subject) values (1, 2)`',
  ])('leaves %s', (source) => {
    expect(stateWrites(source)).toEqual([])
  })
})

test('the states of drafts and of their mails are written in two files', async () => {
  const writers: string[] = []
  for (const path of await sources(HUB)) {
    if (stateWrites(await readFile(path, 'utf8')).length > 0) writers.push(relative(HUB, path))
  }
  expect(writers.sort()).toEqual(OWNERS)
})

test('what the interface imports of the flow brings no code of the server along', async () => {
  expect(await readFile(join(HUB, 'mail/drafts/flow.ts'), 'utf8')).not.toMatch(/\bimport\b/)
})

test('the timeline of a lead is written in one file', async () => {
  const writers: string[] = []
  for (const path of await sources(HUB)) {
    if (/insert into hub\.activities\b/i.test(await readFile(path, 'utf8'))) {
      writers.push(relative(HUB, path))
    }
  }
  expect(writers.sort()).toEqual(['leads/timeline.ts'])
})
