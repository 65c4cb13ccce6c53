import type { Sql } from '../../../shared/sql.ts'
import { bilingual } from '../../i18n/words.ts'
import { type AudienceFilter, MAX_NAMED } from '../../mail/drafts/audience.ts'
import type { Earlier } from '../agent.ts'
import { spelledNumbers } from '../numbers/spelled.ts'
import { followUpText } from './follow-up.text.ts'
import { groupsOf } from './groups.ts'
import { type Resolved, resolveLeads } from './resolve.ts'
import { type Token, tokensOf } from './tokens.ts'

const say = bilingual(followUpText)
const MAX_CHOICES = 10
const NUMBER = '(?:\\d+|one|two|three|four|five|six|seven|eight|nine|ten)'
const SAYI = '(?:\\d+|bir|iki|uc|dort|bes|alti|yedi|sekiz|dokuz|on)'
const WHO_TR =
  '(?:kisi|aday|musteri|firma|sirket|lead)?(?:s?i|s?u|ler|lar|leri|lari|lerine|larina|lere|lara|s?ine|s?ina|ye|ya|ne|na)?'

/** "the other two", "the rest of them", "diğer ikisi", "kalanlara". */
const OTHERS = new RegExp(
  `(?<=^| )(?:(?:(?:the|my|our|all) )*(?:(?:other|remaining) ${NUMBER}|${NUMBER} (?:others|other ones|remaining)|others|remaining|other (?:ones|leads|people|companies|customers|contacts|recipients)|rest(?: of them)?)` +
    `|(?:diger|oteki|kalan|geri kalan) (?:${SAYI}${WHO_TR}(?: (?:kisi|aday|musteri|firma|sirket)${WHO_TR})?|(?:kisi|aday|musteri|firma|sirket)${WHO_TR})|(?:digerleri|otekiler|oburleri|kalanlar|geri kalanlar)\\w*)(?= |$)`,
)

/** The earlier recipients once more: a filter, or single leads. */
type Served = { kind: 'filter'; filter: Extract<Resolved, { kind: 'filter' }>['filter'] } | string[]

/**
 * resolveFollowUp says whom a mission is for that goes on from others: whom its words name, "the
 * other two" of those the conversation is about, or else the same as before. Where "the others" are
 * not as many as it says, or nobody, the answer is `unclear`.
 */
export async function resolveFollowUp(
  sql: Sql,
  project_id: string,
  given: { words: string; earlier: Earlier[]; as: 'recipient' | 'subject' },
): Promise<Resolved> {
  const { words, earlier, as } = given
  const { tokens } = tokensOf(words)
  const others = othersIn(tokens)
  if (others) return resolveOthers(sql, project_id, { ...others, earlier })
  const named = await resolveLeads(sql, project_id, words, as)
  const isSaid = named.kind !== 'nobody' && !isUsualCampaign(named, tokens)
  const served = servedBy(earlier)
  if (isSaid || !served) return named
  if (!Array.isArray(served)) return { ...served, because: say.same }
  return { kind: 'leads', lead_ids: served, because: say.same }
}

/** Without any words for a group, "the campaign" is the one of before and not a new one. */
function isUsualCampaign(resolved: Resolved, tokens: Token[]): boolean {
  if (resolved.kind !== 'filter') return false
  const { tag, country } = resolved.filter
  return tag === undefined && country === undefined && groupsOf(tokens).length === 0
}

/** othersIn finds "the other two" among the words, with their number where it says one. */
export function othersIn(tokens: Token[]): { said: string; count: number | undefined } | undefined {
  const text = tokens.map(({ word }) => word).join(' ')
  const [said] = OTHERS.exec(text) ?? []
  if (said === undefined) return undefined
  const digits = /\d+/.exec(said)?.[0]
  // "diger ikisine": an ending hides the number from the list of numbers.
  const bare = said.replace(new RegExp(`(?<= )(${SAYI})${WHO_TR}(?= |$)`), '$1')
  const [number = digits] = spelledNumbers(bare, /(?:diger|oteki|kalan)/.test(said) ? 'tr' : 'en')
  return { said, count: number === undefined ? undefined : Number(number) }
}

/** Whom the newest mission that had recipients was for. */
function servedBy(earlier: Earlier[]): Served | undefined {
  for (const { drafts, lead_ids, input } of earlier.toReversed()) {
    const lists = drafts.flatMap(({ audience }) =>
      audience.kind === 'list' ? [audience.filter] : [],
    )
    const [list] = lists
    if (list) return { kind: 'filter', filter: lists.length > 1 ? together(list, lists) : list }
    const ids = drafts.flatMap(({ audience }) =>
      audience.kind === 'lead' ? [audience.lead_id] : [],
    )
    const taken = [ids, lead_ids, input.lead_ids ?? []].find((one) => one.length > 0)
    if (taken) return [...new Set(taken)]
    if (input.filter) return { kind: 'filter', filter: input.filter }
  }
  return undefined
}

/**
 * The group that was parted by language, as one again. More leads than can be named one by one are
 * found again as the group they were.
 */
function together(list: AudienceFilter, lists: AudienceFilter[]): AudienceFilter {
  const lead_ids = [...new Set(lists.flatMap((one) => one.lead_ids ?? []))]
  const { lead_ids: _, ...group } = list
  return lead_ids.length > MAX_NAMED ? group : { ...group, lead_ids }
}

async function resolveOthers(
  sql: Sql,
  project_id: string,
  given: { said: string; count: number | undefined; earlier: Earlier[] },
): Promise<Resolved> {
  const { said, count, earlier } = given
  const served = servedBy(earlier)
  if (served && !Array.isArray(served)) {
    return { kind: 'unclear', because: say.after_group(said), lead_ids: [] }
  }
  const done = new Set(served ?? [])
  const about = earlier.flatMap(({ lead_ids, input, result }) => [
    ...lead_ids,
    ...(input.lead_ids ?? []),
    ...(result?.leads ?? []),
  ])
  const known = [...new Set(about)].filter((id) => !done.has(id))
  // Who is not of this conversation is meant only where the project has nobody else.
  const rest = known.length > 0 ? known : await everybodyElse(sql, project_id, [...done])
  const isRight = rest.length > 0 && (count === undefined || count === rest.length)
  if (isRight && rest.length <= MAX_CHOICES) {
    return { kind: 'leads', lead_ids: rest, because: say.others(said, rest.length) }
  }
  const because = say.how_many(said, rest.length > MAX_CHOICES ? `${MAX_CHOICES}+` : rest.length)
  return { kind: 'unclear', because, lead_ids: rest.slice(0, MAX_CHOICES) }
}

async function everybodyElse(sql: Sql, project_id: string, done: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }>`
    select id from hub.leads
    where project_id = ${project_id} and id <> all(${done}::uuid[])
    order by created_at desc, id limit ${MAX_CHOICES + 1}`
  return rows.map(({ id }) => id)
}
