import type { Language } from '../../i18n/words.ts'
import type { AgentName } from '../names.ts'

/** What kind of sentence a task is, and by which of its words: the tokens from `from` up to `to`. */
export type Frame = { agent: AgentName; from: number; to: number }

/** Patterns over the folded words of a task: `en` from its beginning, `tr` and `anywhere` wherever they fit. */
type Pattern = { agent: AgentName; en?: string; tr?: string; anywhere?: string }

const POLITE =
  '(?:(?:please|can you|could you|would you|hi|hello|so|and|now|tell me|i want to know|i would like to know|quick question) )*'
const OUR = '(?:the |our |my |all |any |these |those )?'
const MAIL = '(?:(?:e mail|email|mail|newsletter|letter|message)s?|note)'
const MAIL_TR = '(?:e posta|eposta|mail|mektup|mektub|bulten|mesaj)'
/** Up to so many words of any kind, none of which begins what a noun is about. */
const words = (most: number) =>
  `(?:(?!(?:about|on|that|which|who|for|to|with|of|from|in|by|whether)\\b)\\S+ ){0,${most}}?`

/**
 * The kinds of sentences, of which the first that fits counts. A question about the law stays one
 * whatever it is about, and an order to write a mail stays one although the mail is about the law.
 */
const PATTERNS: Pattern[] = [
  {
    agent: 'engineer_system',
    en: '(?:add|change|fix|patch|remove|rename|move|rewrite|repair) .*\\b(?:of|in|to|on) the hub\\b',
    tr: '\\bhub\\w* .*\\bkod\\w*',
    anywhere:
      '\\bhub\\b.*\\b(?:fix|change|patch|rewrite) (?:its|the|that|this)(?: \\S+)? ?(?:code|it)?\\b',
  },
  {
    agent: 'legal',
    en: `(?:(?:is|was|would|are) (?:it|this|that|we|i|they)(?: be)?(?: \\S+)? (?:legal|illegal|lawful|unlawful|allowed|permitted|forbidden|prohibited|obliged|required|liable|entitled|bound|against)\\b|(?:may|must) we\\b|(?:do|would|will) (?:we|i|they) (?:\\S+ )?need (?:\\S+ )?(?:consent|permission|approval|licen[cs]e)|(?:can|could|may) .*\\b(?:sue|fine us|hold us)\\b|(?:is|are|was|would|does|do) .*\\b(?:binding|lawful|unlawful|illegal|enforceable|liable|against the law)\\b|(?:what|which) (?:are |is )?(?:the )?(?:\\S+ )?rules (?:for|on|about)\\b|can .*\\b(?:get into|in) trouble\\b|who (?:is|would be) liable|(?:which|what) (?:law|laws|penalty|penalties|fines?)\\b)`,
    tr: '(?:\\b(?:yasal|yasak|suc|hukuka uygun|hukuka aykiri|zorunlu|baglayici|serbest|mecburi) (?:mi|mu|midir|mudur|muyuz|miyiz)\\b|\\b(?:mecbur|zorunda|yukumlu) m[iu]y[iu]z\\b|\\b(?:sart|sakincali|suc|caiz|hukuken \\S+|yasaya \\S+|yasalara \\S+) m[iu]\\b|\\b(?:bizi|beni|onu|taraflari) baglar m[iu]\\b|\\b(?:sakla|kaydet|kaydede|kullan|paylas|aktar|yayinla|isle|topla|kopyala|sat|vere)\\w*bilir miyiz\\b|\\b(?:izin|riza|onay)\\w* (?:alma|sorma|olma)(?:dan|k)\\b.*\\bm[iu]y[iu]z\\b|\\b(?:dava|ceza)\\w* (?:ac|ye|al|ode|kes)\\w*(?: (?:mi|mu|miyiz|muyuz)\\b|$))',
  },
  {
    agent: 'web_research',
    en: '(?:read|open|visit|browse|go|study|check|look|what|which)\\b.* @site\\b',
    tr: '@site\\b.* (?:oku|ac|bak|incele|tara|gez|ne yaz|ne di|ne soyl|ne anlat)\\w*',
  },
  {
    agent: 'marketing',
    en: `(?:(?:e mail|mail|email) (?!(?:address|draft|campaign|template|copy|subject|sequence|list|server|body|text|for|to|about|on|with|from|signature|marketing|in)\\w*\\b)\\S+|(?:write|draft|compose|send|create) (?:me |us )?${words(4)}(?<!\\b(?:offer|proposal|termination|warning|sales|voice) )${MAIL} (?!(?:of|template|server|list|address)\\b)\\S+|(?:tell|inform|notify|ask|remind|let) .*\\bby (?:e mail|email|mail|letter|newsletter)\\b)`,
    tr: `(?:${MAIL_TR}(?:y?l[ae]|i?yl[ae]| ile| yoluyla| araciligiyla)(?: \\S+)? (?:bildir|duyur|haber ver|anlat|ilet|sor|hatirlat|acikla)\\w*|(?:@to|\\b(?:bey|hanim)[ea]?) (?:yaz|bildir|ilet|haber ver)\\w*$)`,
  },
  {
    agent: 'sales',
    en: '(?:(?:what|how) (?:do|should|can|could) (?:i|we) (?:say|tell|answer|react|respond|reply|argue|counter)\\b|(?:prepare|prep|brief|coach|train|get) (?:me|us) (?:ready )?for .*\\b(?:call|meeting|talk|negotiation|demo|visit)s?\\b)',
    tr: '(?:\\b(?:gorusme|telefon|toplanti|arama|ziyaret)\\w* .*\\b(?:hazirla beni|beni hazirla)|\\b(?:ne diyeyim|ne demeliyim|ne desem|ne soyle\\w*|ne anlat(?:ayim|maliyim)|ne cevap vereyim|nasil cevap ver\\w*))',
  },
  {
    agent: 'pm',
    en: '(?:.*\\bagents? (?:s )?(?:instructions?|prompts?|rules)\\b|.*\\b(?:instructions?|prompts?) (?:for|of|to) (?:the |our )?(?:\\S+ )?agents?\\b|(?:what|how) .*\\blearn from\\b|why .*\\b(?:rejected|turned down|declined)\\b)',
    tr: '(?:\\bajan\\w* (?:istem|talimat|prompt|kural)\\w*|\\bajan\\w* icin .*(?:istem|talimat|prompt)\\w*|\\bneden (?:reddedil|geri cevril)\\w*|\\b(?:cevrilen|reddedilen|begenilmeyen|basarisiz)\\b.*\\bogren\\w*)',
  },
  {
    agent: 'engineer',
    en: `(?:fix|write|debug|refactor|repair|correct|implement|build|create|code) (?:me |us )?${words(3)}(?<!\\b(?:call|sales|phone|demo|talk|application|order) )(?:function|script|regex|class|method|program|parser|web page|form|component)s?\\b`,
    tr: '\\b(?:fonksiyon|betik|betig|regex|script|program|sinif|metod|bilesen)\\w* (?:yaz|duzelt|onar|gelistir|iyilestir)\\w*$',
  },
  {
    agent: 'system',
    en: `(?:(?:is|are|did|does|was|were|has|have|why is|why are|why does|why did|why was) ${OUR}(?:last )?(?:backup|server|database|disk|model|hub|service|queue|machine)s?\\b|(?:the |our )?(?:language )?(?:model|server|hub|disk|service|database|backup) (?:is|does|did|has|keeps|will|do) (?:not|never|no longer)\\b|why .*\\bno (?:\\S+ )?mails?\\b|(?:no|not a single|none of our) (?:\\S+ )?mails? (?:is |are |was |were |has |have )?(?:going|been sent|being sent|sent|leaving|left|arriving))`,
    tr: '(?:^(?:dil )?(?:model|sunucu|hub|disk|servis|veritaban)\\w* .*\\b(?:neden|niye)\\b|\\byede[kg]\\w*(?: \\S+){1,3} m[iu]\\b|\\b(?:mail|posta|eposta)\\w* (?:git|ulas|cik|gonderil)m[iu]yor\\w*)',
  },
  {
    agent: 'ceo',
    en: '(?:.*\\breports? .*\\bfor (?:the |our )?(?:board|management|investors?|directors|owners)\\b|where should (?:we|our)\\b)',
    tr: '\\b(?:yonetim|kurulu|yatirimci)\\w* icin\\b.*\\brapor\\w*',
  },
  {
    agent: 'data',
    en: `(?:(?:which|how many|count) (?:of (?:our|the) )?(?:\\S+ )?(?:leads|customers|contacts|drafts|mails|letters|proposals|offers|missions|campaigns)\\b(?! (?:fail|failed)\\b)|how often (?:do|did|have|has|does)\\b|(?:show|list|give|put) .*\\bas an? (?:\\S+ )?(?:table|chart|graph|list)\\b)`,
    tr: '(?:\\b(?:hangi|kac) (?:aday|musteri|lead|taslak|mail|teklif|kampanya|gorev)\\w*|\\bkac (?:kez|kere|defa)\\b|\\bhangileri$|\\bgore (?:say|sirala|grupla|dagit)\\w*$|\\b(?:tablo|grafik|liste) (?:olarak|halinde|seklinde) (?:goster|ver|dok|cikar)\\w*)',
  },
  {
    agent: 'finance',
    en: '(?:what is the (?:total|sum|net|gross) .*\\b\\d+\\b|(?:what|how much) (?:do|does|would|will|did) .*\\b(?:earn|cost|costs|owe|pay|save)\\b)',
    tr: '(?:\\b(?:ne|ne kadar|kac \\S+) (?:kazan|kaybed|oder|ode|borclu|tut|eder)\\w*|\\bkaca (?:mal ol|gel|cik)\\w*)',
  },
  {
    agent: 'research',
    en: '(?:find|look for|search for)(?: me| us)? (?!(?:the|out|my|your)\\b)(?:\\S+ ){0,3}?(?!(?:bug|error|mistake|typo|file|pattern|reason|cause|trend|duplicate)s\\b)\\S+s (?:in|near|around|that|who|which|as)\\b',
    tr: '\\S+[ae]bilecek .*\\bbul\\w*$',
  },
  { agent: 'docs', en: '(?:write down|document|describe) (?:how|what)\\b' },
]

const compiled = (sources: (string | undefined)[]) =>
  sources.flatMap((source) => (source ? [new RegExp(source)] : []))
const COMPILED = PATTERNS.map(({ agent, en, tr, anywhere }) => ({
  agent,
  // A short task may have nothing that shows its language.
  en: compiled([en && `^${POLITE}${en}`, anywhere, tr]),
  tr: compiled([tr]),
}))

/** The order of a longer task stands in its first words; looking through all of them would take quadratic time. */
const MOST_WORDS = 100

/** frameOf finds the kind of sentence a task is; undefined where its words alone must decide. */
export function frameOf(words: string[], language: Language): Frame | undefined {
  // The dash keeps the cut from being taken for the end of the sentence.
  const read = words.length > MOST_WORDS ? [...words.slice(0, MOST_WORDS), '–'] : words
  const text = read.join(' ')
  for (const { agent, ...patterns } of COMPILED) {
    for (const pattern of patterns[language]) {
      const found = pattern.exec(text)
      if (!found) continue
      const from = text.slice(0, found.index).split(' ').length - 1
      const [first = ''] = found
      return { agent, from, to: from + first.trim().split(' ').length }
    }
  }
  return undefined
}
