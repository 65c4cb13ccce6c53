import type { AudienceFilter } from '../../mail/drafts/audience.ts'
import { type Token, writtenIn } from './tokens.ts'

/** A group of leads that a task describes rather than names. */
export type Group = { filter: AudienceFilter; from: number; to: number; words: string }

const PEOPLE_EN =
  '(?:leads?|contacts?|customers?|clients?|prospects?|people|persons?|companies|ones|guys|folks)'
const PEOPLE_TR = '(?:aday|musteri|kisi|firma|sirket|lead|potansiyel musteri)\\w*'
const WHO = `(?:those|everyone|everybody|all|anyone|${PEOPLE_EN})(?: of them)? (?:who|that|which)`
/** Whom we did something with, or did not: "the ones we met". */
const WHOM = `(?:those|everyone|everybody|all|anyone|${PEOPLE_EN})(?: of them)?(?: who| whom| that)? (?:we|i)`
/** "verdiğimiz" and "verdiklerimiz", behind the verb. */
const OURS_TR = '[dt][iu](?:g|kl[ae]r)[iu]m[iu]z\\w*'
const STAGE_TR = 'asamasinda(?:ki\\w*| (?:olan|bekleyen|kalan|duran)\\w*)'
const DEALS_TR = `(?: (?:${PEOPLE_TR}|is(?:ler)?\\w*|anlasma\\w*|firsat\\w*))?`
const TO_TR =
  '(?:lara|lere|larina|lerine|larimiza|lerimize|herkese|hepsine|tumune|listeye|listesine)'

/** A pattern over folded words. Those that are also said by the way count only where they are addressed. */
type Pattern = { filter: AudienceFilter; en: string; tr: string; isAddressed?: true }

// Tokens lose what follows an apostrophe: "didn't" is "didn".
const NOT_EN = '(?:did not|didn|didnt|do not|don|have not|haven|has not|hasn|had not|never|not)'
const ANSWER_EN =
  '(?:answer|answered|reply|replied|respond|responded|written back|write back|wrote back|got back|get back)'

/** The first that matches counts, so the negative stands before the positive. */
const PATTERNS: Pattern[] = [
  {
    filter: { answered: false },
    en: `${WHO} ${NOT_EN}(?: \\w+)? ${ANSWER_EN}|without (?:an? |any )?(?:answer|reply|response)|${WHO} (?:\\w+ )?no (?:answer|reply|response)|(?:unanswered|non responders|no reply) ?${PEOPLE_EN}?`,
    tr: '(?:yanit|cevap|donus) (?:ver|yaz|yap|et)(?:me|ma)(?:yen|yan|mis ol|misler)\\w*|(?:yanit|cevap) gelmeyen\\w*|(?:yanitlama|cevaplama)(?:yan|mis ol|mislar)\\w*|donmeyen\\w*|(?:yanitsiz|cevapsiz) (?:kalan\\w*|\\w+)',
  },
  {
    filter: { answered: true },
    en: `${WHO} (?:have |has |had |already )*(?:answered|replied|responded|wrote back|got back)`,
    tr: '(?:yanit|cevap|donus) (?:ver|yaz|yap)(?:en|an|mis ol)\\w*|(?:yanit|cevap) gelen\\w*|(?:yanitlayan|cevaplayan)\\w*',
  },
  {
    filter: { stage: 'new' },
    en: `new ${PEOPLE_EN}|${PEOPLE_EN} (?:who|that) (?:are|is) new|${WHO} (?:we )?(?:have )?(?:not|never) (?:yet )?(?:been )?(?:contacted|written to)|${WHOM} (?:have )?(?:${NOT_EN}|have never) (?:yet |ever )?(?:contacted|contact|written to|write to|wrote to|called|call|reached|reach|mailed|mail|emailed|email)(?: out to)?(?: yet)?`,
    tr: `yeni (?:gelen|eklenen|katilan|kaydolan|giren) ?(?:${PEOPLE_TR}|l[ae]r\\w*)?|yeni (?:gelen|eklenen|katilan|kaydolan)l[ae]r\\w*|yeni ${PEOPLE_TR}|(?<!(?:cevap|yanit|teklif) )(?:henuz |hic |daha )*(?:iletisime )?(?:yaz|ara|ulas|gec|konus|gorus)[ae]?m[ae]${OURS_TR}(?: ${PEOPLE_TR})?|(?:henuz |hic )?yazilmayan\\w*(?: ${PEOPLE_TR})?`,
    isAddressed: true,
  },
  {
    filter: { stage: 'contacted' },
    en: `${PEOPLE_EN} (?:who |that )?(?:we|i) (?:have )?(?:contacted|wrote to|written to)|contacted ${PEOPLE_EN}`,
    tr: `(?:(?<!(?:cevap|yanit|teklif) )yaz|iletisime gec|ulas)${OURS_TR}(?: ${PEOPLE_TR})?`,
    isAddressed: true,
  },
  {
    filter: { stage: 'meeting' },
    en: `${WHO} (?:had|have|has) a meeting|${WHOM} (?:have |had )?(?:met|a meeting)(?: with)?|${PEOPLE_EN} (?:in|at) (?:the )?meeting stage|meeting stage ${PEOPLE_EN}`,
    tr: `(?:toplanti|gorusme|demo) (?:yap${OURS_TR}|${STAGE_TR})(?: ${PEOPLE_TR})?`,
    isAddressed: true,
  },
  {
    filter: { stage: 'proposal' },
    en: `${WHO} (?:got|have|received|has) (?:a|an|our|the) (?:proposal|offer|quote)|${PEOPLE_EN} (?:in|at) (?:the )?(?:proposal|offer) stage|(?:proposal|offer) stage ${PEOPLE_EN}`,
    tr: `teklif (?:(?:ver|gonder|yolla|sun|ilet|yap|at)${OURS_TR}|(?:al|veril|gonderil|yollan|iletil)[ae]n\\w*|${STAGE_TR})(?: ${PEOPLE_TR})?`,
    isAddressed: true,
  },
  {
    filter: { stage: 'won' },
    en: `won (?:leads|customers|deals|ones)|${PEOPLE_EN} (?:who |that )?(?:we|i) (?:have )?won`,
    tr: `(?:kazanilan\\w*|kazan${OURS_TR})${DEALS_TR}`,
    isAddressed: true,
  },
  {
    filter: { stage: 'lost' },
    en: `lost (?:leads|customers|deals|ones)|${PEOPLE_EN} (?:who |that )?(?:we|i) (?:have )?lost`,
    tr: `(?:kaybedilen\\w*|kaybet${OURS_TR})${DEALS_TR}`,
    isAddressed: true,
  },
  {
    filter: {},
    en: `everybody|everyone|all (?:of )?(?:the |our |my )?${PEOPLE_EN}|the (?:whole|entire) list`,
    tr: `herkes|herkese|hepsine|tumune|(?:tum|butun) ${PEOPLE_TR}|tum liste\\w*`,
    isAddressed: true,
  },
]
const COMPILED = PATTERNS.map(({ filter, en, tr, isAddressed = false }) => ({
  filter,
  isAddressed,
  pattern: new RegExp(`(?<=^| )(?:${en}|${tr})(?= |$)`, 'g'),
}))

const ADDRESSING =
  /(?:^| )(?:to|for|mail|email|write|contact|invite|message|ask|tell|remind|thank|follow up|nudge|ping|chase|call|greet|update|hit up|catch up|reach out)(?: \w+){0,2} ?$/

/**
 * groupsOf finds the groups that a task describes: who did not answer, new leads, everybody. Words
 * for a stage that are only said by the way ("we have new customers") are no group.
 */
export function groupsOf(tokens: Token[]): Group[] {
  const text = tokens.map(({ word }) => word).join(' ')
  const taken: boolean[] = []
  const groups: Group[] = []
  for (const { filter, pattern, isAddressed } of COMPILED) {
    for (const { 0: words, index } of text.matchAll(pattern)) {
      const from = text.slice(0, index).split(' ').length - 1
      const to = from + words.trim().split(' ').length
      if (tokens.slice(from, to).some((_, at) => taken[from + at])) continue
      if (isAddressed && !isAddressedAt(tokens, { words, from, to })) continue
      // A wider group around a narrower one says no more: "everyone who did not answer".
      for (let at = from; at < to; at += 1) taken[at] = true
      groups.push({ filter, from, to, words: writtenIn(tokens, from, to) })
    }
  }
  return groups
}

const SINCE_EN =
  /^(?:since \w+|in the last \w+|last (?:week|month|year|quarter)|yesterday|\w+ (?:days|weeks|months) ago)\b/
const SINCE_TR = /(?:^| )(?:\w+(?:dan|den|tan|ten) beri|(?:gecen|son) \w+(?: \w+)?|dun)$/

/** timedIn finds a time that narrows a group, which no filter of leads can: "not answered since May". */
export function timedIn(tokens: Token[], { from, to }: Group): string | undefined {
  const before = tokens.slice(Math.max(0, from - 3), from).map(({ word }) => word)
  const behind = tokens.slice(to, to + 4).map(({ word }) => word)
  const since = SINCE_TR.exec(before.join(' '))?.[0].trim().split(' ').length
  if (since) return writtenIn(tokens, from - since, to)
  const later = SINCE_EN.exec(behind.join(' '))?.[0].split(' ').length
  return later ? writtenIn(tokens, from, to + later) : undefined
}

function isAddressedAt(
  tokens: Token[],
  { words, from, to }: { words: string; from: number; to: number },
): boolean {
  const start = tokens.slice(0, from + 1).findLastIndex(({ isFirst }) => isFirst)
  const before = tokens.slice(Math.max(0, start), from).map(({ word }) => word)
  if (ADDRESSING.test(`${before.join(' ')} `)) return true
  // "new leads get the price list", "all lost leads: write to them"
  const isHead = ['all', 'the'].includes(tokens[from - 1]?.word ?? '') && tokens[from - 1]?.isFirst
  if ((isHead || tokens[from]?.isFirst) && tokens[to]?.isFirst) return true
  if (tokens[from]?.isFirst && /^(?:gets?|receives?|needs?|should)$/.test(tokens[to]?.word ?? ''))
    return true
  const last = words.trim().split(' ').at(-1) ?? ''
  return new RegExp(`${TO_TR}$`).test(last) || tokens[to]?.word === 'icin'
}

/** Whether a task is for many, although it does not say for whom: a campaign, a newsletter. */
export function isCampaign(tokens: Token[]): boolean {
  return tokens.some(({ word }) =>
    /^(?:campaigns?|newsletters?|kampanya(?:s?i|y[ai]|lar\w*)?|bulten(?:i|e|ler\w*)?|toplu)$/.test(
      word,
    ),
  )
}
