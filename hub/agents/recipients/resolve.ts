import type { Sql } from '../../../shared/sql.ts'
import { fold } from '../../../shared/words/fold.ts'
import { bilingual, joined, verbatim, type Words } from '../../i18n/words.ts'
import type { AudienceFilter } from '../../mail/drafts/audience.ts'
import { wordsOf } from '../run/words.ts'
import { describedIn } from './described.ts'
import { endingOf } from './endings.ts'
import {
  alternativesIn,
  exclusionIn,
  introducedIn,
  leftBeside,
  partedIn,
  type Span,
} from './exclusion.ts'
import { type Group, groupsOf, isCampaign, timedIn } from './groups.ts'
import { type Mention, mentionsOf } from './mentions.ts'
import { isEverybody, isPeople } from './people.ts'
import { besideOthers, isPlace } from './relation.ts'
import { resolveText } from './resolve.text.ts'
import { besideAddress, NO_PERSON, strangerBeside, strangerIn } from './strangers.ts'
import { type Token, tokensOf, writtenIn } from './tokens.ts'

const say = bilingual(resolveText)

/** Whom a task is for, as far as its words decide it. */
export type Resolved =
  | { kind: 'leads'; lead_ids: string[]; because: Words }
  | { kind: 'filter'; filter: AudienceFilter; because: Words }
  /** Only a person can say; `lead_ids` are those who may be meant. */
  | { kind: 'unclear'; lead_ids: string[]; because: Words }
  | { kind: 'nobody' }

type Candidate = { id: string; name: string | null; company: string | null; email: string | null }

/** More leads than this that share a word of the task are not compared with it. */
const MAX_CANDIDATES = 2000
const MAX_CHOICES = 10
const MIN_WORD = 2

/**
 * resolveLeads says whom a task means: by e-mail address, by whole words of a name or company, or by
 * a group it describes. It never guesses: where the words fit several, or nobody, or are no certain
 * name, the answer is `unclear` and says what to do.
 *
 * @param as `recipient`: whoever something is written to; `subject`: whom the task is about.
 */
export async function resolveLeads(
  sql: Sql,
  project_id: string,
  task: string,
  as: 'recipient' | 'subject',
): Promise<Resolved> {
  const { tokens, addresses } = tokensOf(task)
  const byAddress = await sql<Candidate & { email_key: string }>`
    select id, name, company, email, email_key from hub.leads
    where project_id = ${project_id} and email_key = any(${addresses}::text[])`
  const missing = addresses.find((one) => byAddress.every(({ email_key }) => email_key !== one))
  if (missing && as === 'recipient') return unclear(say.unknown_address(missing), [])
  if (byAddress.length > 0) {
    const named = byAddress.map(({ email_key }) => email_key).join(', ')
    const lead_ids = byAddress.map(({ id }) => id)
    const beside = as === 'recipient' && besideAddress(task)
    if (beside) return unclear(say.beside_address(named, beside), lead_ids)
    return { kind: 'leads', lead_ids, because: say.named(named) }
  }
  const words = [...new Set(tokens.map(({ word }) => word))].filter(
    (word) => word.length >= MIN_WORD,
  )
  // Wider than it has to be, because whole words and endings are compared below: a lead is a candidate
  // if one of its words begins a word of the task.
  const candidates = await sql<Candidate>`
    select id, name, company, email from hub.leads
    where project_id = ${project_id} and exists (
      select from regexp_split_to_table(private.fold(concat_ws(' ', name, company)), '[^[:alnum:]]+') as own,
        unnest(${words}::text[]) as said
      where length(own) >= ${MIN_WORD} and starts_with(said, own)
    )
    order by created_at desc, id limit ${MAX_CANDIDATES + 1}`
  const tags = await sql<{ tag: string }>`
    select distinct tag from hub.leads, unnest(tags) as tag where project_id = ${project_id} limit 1000`
  const countries = await sql<{ country: string }>`
    select distinct country from hub.leads
    where project_id = ${project_id} and country <> '' limit 1000`
  return decide(tokens, {
    as,
    leads: candidates,
    tags: tags.map(({ tag }) => tag),
    countries: countries.map(({ country }) => country),
    task,
  })
}

type Known = {
  as: 'recipient' | 'subject'
  leads: Candidate[]
  tags: string[]
  countries: string[]
  task: string
}

/** decide is resolveLeads without the database. */
export function decide(tokens: Token[], known: Known): Resolved {
  const { as, leads } = known
  if (leads.length > MAX_CANDIDATES) return unclear(say.too_many, [])
  const mentions = mentionsOf(tokens, leads)
  const isNamed = (at: number) =>
    mentions.some(({ from, to, isSure }) => isSure && at >= from && at < to)
  // "New Leads Ltd" is a firm, and no group.
  const found = groupsOf(tokens).filter(({ from, to }) => !(isNamed(from) && isNamed(to - 1)))
  const tagged = tagOf(tokens, known)
  if (tagged && 'unknown' in tagged) return unclear(say.nobody_in_group(tagged.unknown), [])
  const sure = mentions.filter(({ isSure }) => isSure)
  const places = placesIn(tokens, known.countries)
  const excluding =
    as === 'recipient' &&
    exclusionIn(tokens, [...mentions, ...found, ...places, ...tagWords(tokens)])
  if (excluding) return unclear(say.excludes(excluding), idsOf(mentions))
  const either = alternativesIn(tokens, sure)
  if (either) return unclear(say.maybe(wordsAt(tokens, either)), idsOf(either))
  const introduced = as === 'recipient' && introducedIn(tokens, sure)
  if (introduced) return unclear(say.maybe(wordsAt(tokens, introduced)), idsOf(sure))
  const other = sure.find((mention) => isOther(tokens, mention, mentions))
  if (other) return unclear(say.maybe(wordsAt(tokens, [other])), other.ids)
  if (as === 'recipient' && found.length + (tagged ? 1 : 0) > 0) {
    const place = strangePlace(tokens, places)
    if (place) return unclear(say.nobody_in_group(place), [])
  }
  const groups = found.filter(({ filter }) => Object.keys(filter).length > 0)
  const everybody = found.filter((group) => !groups.includes(group))
  const isForAll = everybody.length > 0
  const addressed = sure.filter(({ role }) => role === 'recipient')
  const wanted = as === 'subject' || addressed.length === 0 ? sure : addressed
  if (wanted.length > 0) {
    const words = wordsAt(tokens, wanted)
    const [group] = groups
    if (group) return unclear(say.mixed(words, group.words), idsOf(wanted))
    // "Everyone" beside a name is everyone of that firm, or everyone without that lead.
    const [all] = everybody
    if (all && as === 'recipient' && !wanted.every((mention) => isPlace(tokens, mention))) {
      return unclear(say.mixed(words, all.words), idsOf(wanted))
    }
    const others = wanted.filter(({ role }) => role !== 'subject' && role !== 'related')
    if (as === 'recipient' && others.length === 0 && !isForAll) {
      const isRelated = wanted.some(({ role }) => role === 'related')
      return unclear(isRelated ? say.related(words) : say.about(words), idsOf(wanted))
    }
    const meant = as === 'recipient' && others.length > 0 ? others : wanted
    const open = meant.find(({ ids }) => ids.length > 1)
    if (open && !isForAll) {
      return unclear(say.which(wordsAt(tokens, [open]), open.ids.length), open.ids)
    }
    const speaker =
      as === 'recipient' && meant.length > 1 && meant.find((mention) => isSpeaker(tokens, mention))
    if (speaker) return unclear(say.maybe(wordsAt(tokens, [speaker])), idsOf(meant))
    const parted = as === 'recipient' && partedIn(tokens, meant)
    if (parted) return unclear(say.maybe(wordsAt(tokens, parted)), idsOf(meant))
    const beside = as === 'recipient' && besideOthers(tokens, meant, mentions)
    if (beside) return unclear(say.beside(words, beside), idsOf(meant))
    const stranger =
      as === 'recipient' && strangerBeside(tokens, meant.map(withFirm), mentions.map(withFirm))
    if (stranger) return unclear(say.unknown(stranger), idsOf(sure))
    const left = as === 'recipient' && leftBeside(tokens, meant, mentions)
    if (left) return unclear(say.maybe(wordsAt(tokens, [left])), idsOf([...meant, left]))
    const slip =
      as === 'recipient' &&
      mentions.find((one) => !meant.includes(one) && isMisspelled(tokens, one, leads))
    if (slip) {
      const written = writtenIn(tokens, slip.from, slip.to + 1)
      return unclear(say.maybe(written), idsOf([...meant, slip]))
    }
    return { kind: 'leads', lead_ids: idsOf(meant), because: say.named(wordsAt(tokens, meant)) }
  }
  return decideGroup(tokens, { known, groups, everybody, tagged, mentions })
}

function decideGroup(
  tokens: Token[],
  given: {
    known: Known
    groups: Group[]
    /** The words for everybody, which narrow nothing. */
    everybody: Group[]
    tagged: { filter: AudienceFilter; words: string } | undefined
    mentions: Mention[]
  },
): Resolved {
  const { known, groups, everybody, tagged, mentions } = given
  const [one, ...others] = groups
  const other = others.find(({ filter }) => JSON.stringify(filter) !== JSON.stringify(one?.filter))
  if (one && other) return unclear(say.two_groups(one.words, other.words), [])
  const timed = one && timedIn(tokens, one)
  if (timed) return unclear(say.described(timed), [])
  const country = countryOf(
    tokens,
    known,
    groups.length + everybody.length > 0 || isCampaign(tokens),
  )
  const filter = { ...one?.filter, ...tagged?.filter, ...country?.filter }
  const words = [one?.words, tagged?.words, country?.words].filter(Boolean).join(', ')
  if (words !== '') return { kind: 'filter', filter, because: say.group(words) }
  if (everybody.length > 0) {
    const all = everybody.map((group) => group.words).join(', ')
    return { kind: 'filter', filter: {}, because: say.group(all) }
  }
  const described = known.as === 'recipient' ? describedIn(tokens) : undefined
  if (isCampaign(tokens) && !described) {
    return { kind: 'filter', filter: { stage: 'new' }, because: say.campaign }
  }
  const stranger = known.as === 'recipient' ? strangerIn(tokens, mentions) : undefined
  if (stranger) return unclear(say.unknown(stranger), idsOf(mentions))
  const open = known.as === 'recipient' ? mentions : mentions.filter(({ isNamed }) => isNamed)
  if (open.length > 0) return unclear(say.maybe(wordsAt(tokens, open)), idsOf(open))
  if (described) return unclear(say.described(described), [])
  return { kind: 'nobody' }
}

const withFirm = ({ from, until }: Mention): Span => ({ from, to: until })

/** "Claire said Tom needs an answer": nobody addresses Claire. */
const isSpeaker = (tokens: Token[], { to, role }: Mention) =>
  role === 'unknown' && /^(?:said|says|thinks|knows|told|asked|wrote)$/.test(tokens[to]?.word ?? '')

/** "tom beckera": a first name, and a last name with an ending that it cannot have. */
function isMisspelled(tokens: Token[], { from, to, ids }: Mention, leads: Candidate[]): boolean {
  const [said, next] = [tokens[from], tokens[to]]
  if (to - from > 1 || !next?.isNext || said?.suffix !== '') return false
  return leads.some(({ id, name }) => {
    if (!ids.includes(id)) return false
    const words = wordsOf(name ?? '')
    const others = words.slice(words.indexOf(said.word) + 1)
    return (
      words.includes(said.word) &&
      others.some((own) => own.length > 2 && next.word !== own && next.word.startsWith(own))
    )
  })
}

const unclear = (because: Words, lead_ids: string[]): Resolved => ({
  kind: 'unclear',
  because,
  lead_ids: lead_ids.slice(0, MAX_CHOICES),
})

const idsOf = (mentions: Mention[]) => [...new Set(mentions.flatMap(({ ids }) => ids))]

const wordsAt = (tokens: Token[], mentions: Mention[]) =>
  mentions
    .map(({ from, to }) => writtenIn(tokens, from, to).replace(/['’ʼ`´]\p{L}+$/u, ''))
    .join(', ')

/** The words that say that a tag is meant. */
const tagWords = (tokens: Token[]): Span[] =>
  tokens.flatMap(({ word }, from) => (TAGGED.test(word) ? [{ from, to: from + 1 }] : []))
const TAGGED = /^(?:tagged|labelled|labeled|etiketli)/

/** A tag that a task names as one: "#fair", "tagged fair", "fuar etiketli". */
function tagOf(
  tokens: Token[],
  { tags, task }: Known,
): { filter: AudienceFilter; words: string } | { unknown: string } | undefined {
  const [, hash] = /(?:^|\s)#([\p{L}\p{N}_-]{2,60})/u.exec(task) ?? []
  const named = (words: string[]) =>
    tags.find(
      (tag) =>
        tokensOf(tag)
          .tokens.map(({ word }) => word)
          .join(' ') === words.join(' '),
    )
  if (hash) {
    const tag = tags.find((one) => fold(one) === fold(hash))
    return tag ? { filter: { tag }, words: `#${tag}` } : { unknown: `#${hash}` }
  }
  const words = tokens.map(({ word }) => word)
  for (const [at, word] of words.entries()) {
    const isBefore = /^(?:tagged|labelled|labeled)$/.test(word)
    const isAfter = isBefore || /^etiketli/.test(word)
    if (!isAfter) continue
    for (let length = 4; length > 0; length -= 1) {
      const behind = isBefore ? words.slice(at + 1, at + 1 + length) : []
      const before = words.slice(Math.max(0, at - length), at)
      const tag = [behind, before]
        .filter((said) => said.length === length)
        .map(named)
        .find(Boolean)
      if (tag) return { filter: { tag }, words: tag }
    }
    return { unknown: words.slice(Math.max(0, at - 1), at + 2).join(' ') }
  }
  return undefined
}

/** A country, where the task speaks of many: "all leads in Germany", "Almanya'daki müşterilere". */
function countryOf(
  tokens: Token[],
  { countries }: Known,
  isForMany: boolean,
): { filter: AudienceFilter; words: string } | undefined {
  for (const country of countries) {
    const words = tokensOf(country).tokens.map(({ word }) => word)
    if (words.length === 0) continue
    for (const { from, to, suffix } of placesOf(tokens, words)) {
      const isIn = tokens[from - 1]?.word === 'in' || tokens[from - 1]?.word === 'from'
      const isThere = /^(?:[dt][ae]ki|[dt][ae]n)/.test(suffix)
      const isOfPeople =
        isPeople(tokens[to]?.word) ||
        isPeople(tokens[from - 2]?.word) ||
        (isThere && isEverybody(tokens[to]?.word))
      const isOfAll = isEverybody(tokens[from - 2]?.word) && GET.test(tokens[to]?.word ?? '')
      if ((isIn || isThere) && (isForMany || isOfPeople || isOfAll)) {
        return { filter: { country }, words: country }
      }
    }
  }
  return undefined
}

/** "everyone in Poland gets", as a task says for whom something is. */
const GET = /^(?:gets?|receives?|needs?|should)$/

/** Where a task names one of the leads' countries. */
function placesIn(tokens: Token[], countries: string[]): Span[] {
  return countries.flatMap((country) =>
    placesOf(
      tokens,
      tokensOf(country).tokens.map(({ word }) => word),
    ),
  )
}

/** Where the words of a place stand, with its case, which may lack the apostrophe: "almanyadaki". */
function placesOf(tokens: Token[], words: string[]): (Span & { suffix: string })[] {
  const last = words.length - 1
  return tokens.flatMap((_, from) => {
    const token = tokens[from + last]
    if (!token || words.slice(0, last).some((word, at) => tokens[from + at]?.word !== word)) {
      return []
    }
    const own = words[last] ?? ''
    const ending = token.suffix === '' ? endingOf(token.word, own) : ''
    if (token.word !== own && !/^[dt][ae]/.test(ending)) return []
    return [{ from, to: from + words.length, suffix: token.suffix || ending }]
  })
}

/** A place in which no lead is: "all leads in Atlantis", "Atlantis’teki adaylara". */
function strangePlace(tokens: Token[], places: Span[]): string | undefined {
  const at = tokens.findIndex((token, here) => {
    if (!token.isName || NO_PERSON.has(token.word)) return false
    if (places.some(({ from, to }) => here >= from && here < to)) return false
    const isIn = ['in', 'from', 'near'].includes(tokens[here - 1]?.word ?? '')
    const isOf = isPeople(tokens[here - 2]?.word) || isEverybody(tokens[here - 2]?.word)
    const isThere = /^n?[dt][ae]ki/.test(token.suffix)
    return (isIn && isOf) || isThere
  })
  return tokens[at]?.text
}

/** Whether a name goes on with words of another one: "Ali Demir" is not Ali Kaya. */
function isOther(tokens: Token[], mention: Mention, mentions: Mention[]): boolean {
  const { from, to, ids } = mention
  if (to - from > 1) return false
  const isStrange = (at: number) => {
    const token = tokens[at]
    if (!token?.isName || NO_NAME.has(token.word) || NO_PERSON.has(token.word)) return false
    if (token.text.length < 5 && token.text === token.text.toUpperCase()) return false
    const own = mentions.find((one) => at >= one.from && at < one.to)
    return !own?.ids.some((id) => ids.includes(id))
  }
  const isEnd = (tokens[to - 1]?.suffix ?? '') !== ''
  if (!isEnd && tokens[to]?.isNext && isStrange(to)) return true
  const before = tokens[from - 1]
  if (!tokens[from]?.isNext || before?.suffix !== '') return false
  // "Umut Kaya’ya": the first name of one lead and the last name of another.
  const first = mentions.find((one) => one.to === from)
  const isAnother = first?.isExact === true && !first.ids.some((id) => ids.includes(id))
  return isStrange(from - 1) || (isAnother && /^\p{Lu}/u.test(before.text))
}

/** Capitalised words beside a name that are no part of it. */
const NO_NAME = new Set(
  'mr mrs ms miss dr prof bay bayan sayin bey hanim beyefendi hanimefendi av i write ltd gmbh inc as a s hello hi dear merhaba'.split(
    ' ',
  ),
)

/** The reason of an unclear task together with who may be meant, as one text. */
export function withChoices(because: Words, names: string[]): Words {
  return names.length === 0 ? because : joined([because, say.choose(verbatim(names.join('; ')))])
}
