import type { Language } from '../../i18n/words.ts'
import type { AgentName } from '../names.ts'
import { typedIn } from './facts.ts'
import type { Token } from './tokens.ts'

/** What kind of sentence a task is, and by which of its words: the tokens from `from` up to `to`. */
export type Frame = {
  agent: AgentName
  from: number
  to: number
  /** Those that the pattern names; between them may stand any others. */
  telling: number[]
}

/** Patterns over the folded words of a task: `en` from its beginning, `tr` and `anywhere` wherever they fit. */
type Pattern = { agent: AgentName; en?: string[]; tr?: string[]; anywhere?: string[] }

const POLITE =
  '(?:(?:please|can you|could you|would you|hi|hello|so|and|now|tell me|i want to know|i would like to know|quick question) )*'
const OUR = '(?:the |our |my |all |any |these |those )?'
const MAIL = '(?:(?:e mail|email|mail|newsletter|letter|message)s?|note)'
const ORDER_TR =
  '(?:hazirla|yaz|at|gonder|yolla|gec|olustur|tasarla)(?:yalim|alim|elim|r|er|ar|ir|sana|sene|yin|in|un)?'
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
    en: [
      '(?:add|change|fix|patch|remove|rename|move|rewrite|repair) .*\\b(?:of|in|to|on) the hub\\b',
      '(?:the )?hub (?:add|should|needs?|must|lacks)\\b',
      'make the hub\\b',
    ],
    tr: [
      '\\bhub\\w* .*\\bkod\\w*',
      '^hub\\w*(?: (?:a|ya|in|i|da))? .*\\b(?:ekle|degistir|duzelt|yamala|hizlandir|gizle|kaldir)(?:yelim|elim|alim|yalim|yin|in|sene|r misin|ir misin)?(?= |$)',
    ],
    anywhere: [
      '\\bhub\\b.*\\b(?:fix|change|patch|rewrite) (?:it|its|the|that|this)(?: \\S+)? ?(?:code|it)?\\b',
    ],
  },
  {
    agent: 'legal',
    en: [
      '(?:is|was|would|are) (?:it|this|that|we|i|they)(?: be)?(?: \\S+)? (?:legal|illegal|lawful|unlawful|allowed|permitted|forbidden|prohibited|obliged|required|liable|entitled|bound|against)\\b',
      '(?:may|must) we\\b',
      '(?:do|would|will) (?:we|i|they) (?:\\S+ )?need (?:\\S+ )?(?:consent|permission|approval|licen[cs]e)',
      '(?:can|could|may) .*\\b(?:sue|fine us|hold us)\\b',
      '(?:is|are|was|would|does|do) .*\\b(?:binding|lawful|unlawful|illegal|enforceable|liable|against the law)\\b',
      '(?:what|which) (?:are |is )?(?:the )?(?:\\S+ )?rules (?:for|on|about)\\b',
      'can .*\\b(?:get into|in) trouble\\b',
      'who (?:is|would be) liable',
      '(?:which|what) (?:law|laws|penalty|penalties|fines?)\\b',
      '(?:do|must) (?:we|i) (?:legally )?have to (?:tell|inform|ask|delete|keep|store|report|disclose|get|sign|register|publish|name|show|offer|refund|pay)\\b',
      '(?:.*\\b)?can (?:we|he|she|they|i) (?:cancel|terminate|withdraw|walk away|get (?:\\S+ ){0,2}back)\\b',
      'what (?:must|has to|needs to) be in (?:the |an? )?(?:\\S+ )?(?:imprint|contract|agreement|policy|terms|nda)\\b',
      'are we (?:ok|okay|fine|safe|good) (?:to|if|when)\\b',
      'is (?:it|that) (?:ok|okay|fine) (?:to|if we) (?:buy|sell|share|store|keep|use|record|publish|copy|forward|collect|call|contact|write|e?mail)\\b',
    ],
    tr: [
      '\\b(?:yasal|yasak|suc|hukuka uygun|hukuka aykiri|zorunlu|baglayici|serbest|mecburi) (?:mi|mu|midir|mudur|muyuz|miyiz)\\b',
      '\\b(?:mecbur|zorunda|yukumlu) m[iu]y[iu]z\\b',
      '\\b(?:sart|sakincali|suc|caiz|hukuken \\S+|yasaya \\S+|yasalara \\S+) m[iu]\\b',
      '\\b(?:bizi|beni|onu|taraflari) baglar m[iu]\\b',
      '\\b(?:sakla|kaydet|kaydede|kullan|paylas|aktar|yayinla|isle|topla|kopyala|sat|vere)\\w*bilir miyiz\\b',
      '\\b(?:izin|riza|onay)\\w* (?:alma|sorma|olma)(?:dan|k)\\b.*\\bm[iu]y[iu]z\\b',
      '\\b(?:dava|ceza)\\w* (?:ac|ye|al|ode|kes)\\w*(?: (?:mi|mu|miyiz|muyuz)\\b|$)',
    ],
  },
  {
    agent: 'web_research',
    en: [
      '(?:read|open|visit|browse|go|study|check|look|what|which)\\b.* @site\\b',
      '(?:.*\\b)?(?:their|its|his|her) (?:(?:\\S+ ){0,2}?page|(?:web ?)?site|homepage|home page)\\b(?!.*\\b(?:fix|build|bug)\\b).*\\b(?:see|look|check|mentions?|says?|lists?|shows?)\\b',
      '(?:grab|get|pull|take|copy|read|note) .*\\b(?:from|on|off) (?:their|its|his|her) (?:\\S+ ){0,3}?(?:site|page|homepage)\\b',
    ],
    tr: [
      '@site\\b.* (?:oku|ac|bak|incele|tara|gez|ne yaz|ne di|ne soyl|ne anlat)\\w*',
      '\\b(?:site|web sayfa)(?!\\w*m[iu]z)\\w*[iu]n(?:[dt]?[ae])\\b.* (?:bak|goz at|oku|yaziyor|yazmis|yazar|goster(?:mis|iyor)|diyor|demis|soyl|anlat|bahset|listele)\\w*',
    ],
  },
  {
    agent: 'marketing',
    en: [
      '(?:e mail|mail|email) (?!(?:address|draft|campaign|template|copy|subject|sequence|list|server|body|text|for|to|about|on|with|from|signature|marketing|in)\\w*\\b)\\S+',
      `(?:write|draft|compose|send|create) (?:me |us )?${words(4)}(?<!\\b(?:offer|proposal|termination|warning|sales|voice) )${MAIL} (?!(?:of|template|server|list|address)\\b)\\S+`,
      '(?:tell|inform|notify|ask|remind|let) .*\\bby (?:e mail|email|mail|letter|newsletter)\\b',
      '(?:tell|remind|inform|let|thank|ping|nudge|chase|invite|notify) (?!(?:me|us|it|them to|the (?:hub|agent|model|system)|agents?)\\b)(?:\\S+ ){1,3}?(?:that|the|we|our|know|about|for|who|to)\\b',
      'come up with (?:an? |some |\\d+ |three )?(?:\\S+ )?(?:subjects?|slogans?|taglines?|headlines?)\\b',
      '(?:drop|shoot|fire off) (?:\\S+ ){1,4}?(?:line|note|message|mail|email|text)\\b',
    ],
    tr: [
      `(?<!\\b(?:hata|uyari|sesli|teklif|fesih|ihtar|niyet|referans) )\\b${MAIL_TR}\\w* (?:${ORDER_TR}) ?(?:misin\\w*)?(?= |$)`,
      `${MAIL_TR}(?:y?l[ae]|i?yl[ae]| ile| yoluyla| araciligiyla)(?: \\S+)? (?:bildir|duyur|haber ver|anlat|ilet|sor|hatirlat|acikla)\\w*`,
      '(?:@to|\\b(?:bey|hanim)[ea]?) (?:yaz|bildir|ilet|haber ver)\\w*$',
      '(?:@to|\\b(?:bey|hanim)[ea]|\\bherkese|\\b\\w{3,}(?:lara|lere|larina|lerine|larimiza|lerimize)) (?:\\S+ ){0,6}?(?:haber ver|bildir|duyur|ilet|hatirlat|tesekkur (?:et|yaz))\\w*',
      '\\b(?:duyuru|davet|tanitim|kampanya)\\w* .*\\b(?:metin|metn|yazi)\\w* (?:lazim|hazirla|yaz)\\w*',
    ],
  },
  {
    agent: 'sales',
    en: [
      '(?:.*\\b(?:call|calling|phone|phoning|meeting|visiting|seeing)\\b.*\\b)?(?:what|how) (?:do|should|can|could) (?:i|we) (?:open|start|pitch|say|tell|answer|react|respond|reply|argue|counter)\\b',
      '(?:.*\\b)?(?:they|he|she|customers?|clients?|buyers?|leads?|prospects?) (?:\\S+ )?(?:say|says|saying|object|objects|claim|claims|argue|argues)\\b.*\\b(?:comebacks?|arguments?|counter\\w*|rebuttals?|what do i)\\b',
      '(?:prepare|prep|brief|coach|train|get) (?:me|us) (?:ready )?for .*\\b(?:call|meeting|talk|negotiation|demo|visit)s?\\b',
    ],
    tr: [
      '\\b(?:gorusme|telefon|toplanti|arama|ziyaret)\\w* .*\\b(?:hazirla beni|beni hazirla)',
      '\\b(?:toplanti|gorusme|randevu|ziyaret)\\w*m(?:iz)? var\\b.* hazirla\\w*',
      '\\bne (?:diyeyim|diyelim|diyecegi[mz]|diyebiliri[mz]|demem|dememiz|demeli\\w*|desem|desek|soyle\\w*|anlat(?:ayim|maliyim)|cevap ver(?:eyim|elim|sem|mem|meli\\w*))',
      '\\bnasil (?:cevap|karsilik) ver\\w*',
      '\\b(?:telefonda|aradigimda|gorusmede|toplantida)\\b.*\\bnasil\\b',
      '\\b(?:diyen|derse|deyince|dediginde|diyor\\w*)\\b.*\\b(?:arguman|karsilik|ikna)\\w*',
    ],
  },
  {
    agent: 'pm',
    en: [
      '.*\\bagents? (?:s )?(?:instructions?|prompts?|rules)\\b',
      '.*\\b(?:instructions?|prompts?) (?:for|of|to) (?:the |our )?(?:\\S+ )?agents?\\b',
      '(?:what|how) .*\\blearn from\\b',
      'why .*\\b(?:rejected|turned down|declined)\\b',
      'which (?:of the |of our )?agents? .*\\b(?:fails?|worst|best|mistakes?|slow\\w*)\\b',
      '(?:.*\\b)?suggest (?:an? )?(?:better|faster|easier) (?:way|process|workflow)\\b',
    ],
    tr: [
      '\\bajan\\w* .*\\b(?:hata yap|basarisiz ol|yanlis yap)\\w*',
      '\\bdaha (?:iyi|hizli|kolay) (?:bir )?(?:yontem|yol|surec|duzen)\\w* (?:oner|bul|kur)\\w*',
      '\\bajan\\w* (?:istem|talimat|prompt|kural)\\w*',
      '\\bajan\\w* icin .*(?:istem|talimat|prompt)\\w*',
      '\\bneden (?:reddedil|geri cevril)\\w*',
      '\\b(?:cevrilen|reddedilen|begenilmeyen|basarisiz)\\b.*\\bogren\\w*',
    ],
  },
  {
    agent: 'engineer',
    en: [
      `(?:fix|write|debug|refactor|repair|correct|implement|build|create|code) (?:me |us )?${words(3)}(?<!\\b(?:call|sales|phone|demo|talk|application|order) )(?:function|script|regex|class|method|program|parser|web page|form|component)s?\\b`,
      '.*@code\\b.*\\b(?:wrong|broken|fails?|crash\\w*|slow|doubled)\\b',
      'convert .*\\b(?:to|into) (?:json|xml|csv|html|sql|typescript|python)\\b',
      '(?:an? |some )?(?:(?:little|small|quick|short|simple|tiny) )*(?:script|function|regex|macro|program|snippet|tool) (?:to|that|which) (?!(?:call|sell|convince|phone)\\b)',
    ],
    tr: [
      '@code\\b.* (?:duzelt|onar|yanlis|bozuk|coz)\\w*',
      '\\b(?:json|xml|sql|html)\\b.*\\b(?:cevir|donustur|aktar)\\w*',
      '\\b(?:form|sayfa)\\w* .*\\b(?:dogrulama|alan|buton|dugme) ekle\\w*',
      '\\b(?:fonksiyon|betik|betig|regex|script|program|sinif|metod|bilesen|makro)\\w* (?:yaz|duzelt|onar|gelistir|iyilestir)\\w*$',
      '\\S[ae]n (?:\\S+ ){0,3}(?:makro|script|betik|betig|program|kod|fonksiyon|istemci|eklenti|regex)\\w*(?: (?:yaz|lazim|hazirla|yap|olustur|gerek|istiyor)\\w*| ?$)',
      '^(?!.*\\bhub).*\\b(?:form|sayfa|buton|dugme|alan|ekran|script|kod|menu)\\w* .*\\b(?:bozuk|calismiyor|gorunmuyor|hata ver\\w*|kayiyor|cokuyor|takiliyor)\\b.* (?:duzelt|onar|coz|bak)\\w*',
    ],
  },
  {
    agent: 'system',
    en: [
      `(?:is|are|did|does|was|were|has|have|why is|why are|why does|why did|why was) ${OUR}(?:last )?(?:backup|server|database|disk|model|hub|service|queue|machine|memory|ram|cpu|smtp|certificate|disk space)s?\\b`,
      '(?:the |our )?(?:language )?(?:model|server|hub|disk|service|database|backup) (?:is|does|did|has|keeps|will|do) (?:not|never|no longer)\\b',
      '(?:.*\\b)?(?:database|imap|smtp|server|login|certificate|connection) (?:\\S+ )?(?:unreachable|fails?|failing|failed|down|refused|expired|broken)\\b',
      'why .*\\bno (?:\\S+ )?mails?\\b',
      '(?:no|not a single|none of our) (?:\\S+ )?mails? (?:is |are |was |were |has |have )?(?:going|been sent|being sent|sent|leaving|left|arriving)',
    ],
    tr: [
      '^(?:dil )?(?:model|sunucu|hub|disk|servis|veritaban)\\w* .*\\b(?:neden|niye)\\b',
      '\\b(?:imap|smtp|giris|baglanti|veritaban|sunucu)\\w* (?:\\S+ )?(?:olmuyor|ulasilam\\w*|calismiyor|hata ver\\w*|koptu|kopuyor|reddedil\\w*)',
      '\\byede[kg]\\w*(?: \\S+){1,3} m[iu]\\b',
      '\\b(?:mail|posta|eposta)\\w* (?:git|ulas|cik|gonderil)m[iu]yor\\w*',
    ],
  },
  {
    agent: 'ceo',
    en: [
      '.*\\b(?:reports?|recommendations?|decisions?|summary|paper|briefing|updates?) .*\\bfor (?:the |our )?(?:board|management|investors?|directors|owners)\\b',
      'where should (?:we|our)\\b',
      'should we (?!(?:call|write|mail|send|answer|reply)\\b)\\S+ .*\\bor\\b',
    ],
    tr: [
      '\\b(?:yonetim|kurulu|kuruluna|yatirimci)\\w* (?:icin\\b.*|.*)\\b(?:rapor|ozet|sunum|oneri|karar)\\w*',
      '\\bm[iu] \\w+[ae]l[iu]m\\b.* \\w+[ae]l[iu]m(?= |$)',
      '\\b\\w+(?:[ae]l[iu]m|s[ae]k) m[iu]\\b.*\\b(?:yoksa|karar\\w*|\\w+(?:[ae]l[iu]m|s[ae]k))(?= |$)',
    ],
  },
  {
    agent: 'data',
    en: [
      '(?:which|how many|count) (?:of (?:our|the) )?(?:\\S+ )?(?:leads|customers|contacts|drafts|mails|letters|proposals|offers|missions|campaigns)\\b(?! (?:fail|failed)\\b)',
      '(?:what is the |show |the )?(?:average|median|mean|percentage|share|number) (?:of|time|days|number)\\b',
      'how often (?:do|did|have|has|does)\\b',
      '(?:show|list|give|put) .*\\bas an? (?:\\S+ )?(?:table|chart|graph|list)\\b',
    ],
    tr: [
      '\\b(?:hangi|kac) (?:aday|musteri|lead|taslak|mail|teklif|kampanya|gorev)\\w*',
      '\\bkac (?:kez|kere|defa)\\b',
      '\\bhangileri$',
      '\\bgore (?:say|sirala|grupla|dagit)\\w*$',
      '\\b(?:tablo|grafik|liste) (?:olarak|halinde|seklinde) (?:goster|ver|dok|cikar)\\w*',
    ],
  },
  {
    agent: 'finance',
    en: [
      '(?:an? )?(?:invoice|bill|proforma|pro forma|credit note)(?: for| to)? .*\\b\\d+\\b',
      'what is the (?:total|sum|net|gross) .*\\b\\d+\\b',
      '(?:what|how much) (?:do|does|would|will|did) .*\\b(?:earn|cost|costs|owe|pay|save)\\b',
    ],
    tr: [
      '\\b(?:fatura|proforma)\\w*\\b.*\\b\\d+\\b',
      '\\b(?:ne|ne kadar|kac \\S+) (?:kazan|kaybed|oder|ode|borclu|tut|eder)\\w*',
      '\\bkaca (?:mal ol|gel|cik)\\w*',
    ],
  },
  {
    agent: 'research',
    en: [
      '(?:get|give|bring|need|i need|we need|looking for|find)(?: me| us)? (?:a list of |around |about |some )?\\d+ (?:\\S+ ){0,3}?(?!(?:days|mails|emails|drafts|minutes|words|ideas|lines|slides)\\b)\\S+s (?:in|near|around|that|who|from|with)\\b',
      '(?:i |we )?(?:need|want|get|give|make|build|compile)(?: me| us)? (?:an? |the )?(?:\\S+ )?(?:list|names|contacts) of (?!(?:all |our |the |my )*(?:leads|drafts|mails|missions|customers|contacts|tasks|files)\\b)',
      'what (?:is |do we )?known? about\\b',
      'pull (?:the |all )?(?:contacts|names|companies|people|leads) (?:out of|from)\\b',
      '.*\\bi need (?:names|contacts)\\b',
      'who (?:are|is) (?:the )?(?:\\S+ ){0,2}?(?:players?|leaders?|companies|firms|suppliers|producers|manufacturers|importers|competitors|buyers|operators|decision makers?)\\b',
      'who (?:decides|runs|buys|owns|leads|heads|manages)\\b.*\\b(?:at|of|in|for)\\b',
      '(?:dig up|find out|gather|collect) (?:what|whatever|everything|all|anything|info\\w*|facts|details|background)\\b.*\\b(?:on|about)\\b',
      '(?:find|look for|search for)(?: me| us)? (?!(?:the|out|my|your)\\b)(?:\\S+ ){0,3}?(?!(?:bug|error|mistake|typo|file|pattern|reason|cause|trend|duplicate)s\\b)\\S+s (?:in|near|around|that|who|which|as)\\b',
    ],
    tr: [
      '\\S+[ae]bilecek .*\\bbul\\w*$',
      '\\b\\d+ (?:\\S+ ){0,2}?(?:firma|sirket|otel|isletme|magaza|kisi|bayi|uretici|toptanci|tedarikci|ihracatci|ithalatci|kurum|okul|hastane|restoran)\\w* (?:lazim|bul|istiyor|cikar|getir|listele|oner)\\w*',
      '\\b(?:liste|excel|csv|dosya|kartvizit)\\w* .*\\b(?:(?:aday|lead)\\w* .*(?:kaydet|ekle|aktar|isle)|(?:firma|sirket|kisi|aday)\\w* (?:cek|cikar|al))\\w*',
      '\\b(?:kimdir|necidir|kimlerdir|kimin nesi)\\b',
    ],
  },
  {
    agent: 'docs',
    en: [
      '(?:sum up|summari[sz]e|rewrite|rephrase|simplify|proofread) (?!.*\\b(?:mails?|e mail|email|newsletter|letter|proposal|offer|code|function|prompt|instructions|expenses|costs|invoices|site)\\b)',
      '(?:write down|write up|document|describe) (?:how|what)\\b',
      '(?:an? )?(?:one|two|three|half a|single) pages? (?:about|on|for|of)\\b',
    ],
    tr: [
      '\\bdaha (?:anlasilir|sade|acik) (?:bir dille )?(?:yaz|anlat)\\w*',
      '\\b(?:metn|metin|yazi|rapor|belge|tutana[gk]|dokuman)\\w* (?:\\S+ ){0,3}?(?:kisalt|sadelestir|(?:sayfa|paragraf|cumle|satir)\\w* (?:indir|dusur|sigdir))\\w*',
      '\\b(?:anlatan|aciklayan|ozetleyen) (?:\\S+ ){0,3}?(?:dokuman|belge|kilavuz|rehber|kitapcik|kitapcig|talimat)\\w*',
    ],
  },
]

const compiled = (...sources: (string[] | undefined)[]) =>
  sources.flatMap((forms = []) => forms.map((form) => new RegExp(form)))
const COMPILED = PATTERNS.map(({ agent, en, tr, anywhere }) => ({
  agent,
  beginning: compiled(en?.map((one) => `^${POLITE}(?:${one})`)),
  // A short sentence may have nothing that shows its language, so an English one may be Turkish.
  en: compiled(anywhere, tr),
  tr: compiled(tr),
}))

/** So many words are looked through at once; all words of a long task at once would take quadratic time. */
const MOST_WORDS = 100
/** And so many characters of each: no word of a pattern is longer. */
const MOST_LETTERS = 40

/**
 * frameOf finds the kind of sentence a task is, by the first of its sentences that has one; undefined
 * where its words alone must decide.
 */
export function frameOf(tokens: Token[]): Frame | undefined {
  const starts = tokens.flatMap(({ isFirst }, at) => (isFirst ? [at] : []))
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? tokens.length
    const language = typedIn(
      tokens
        .slice(start, end)
        .map(({ written }) => written)
        .join(' '),
    )
    const found = frameFrom(tokens, { start, language, isBeginning: true })
    if (found) return found
    for (let at = start + MOST_WORDS / 2; at + MOST_WORDS / 2 < end; at += MOST_WORDS / 2) {
      const further = frameFrom(tokens, { start: at, language, isBeginning: false })
      if (further) return further
    }
  }
  return undefined
}

/** A word that begins as one of the pattern's does: Turkish ones have endings that the pattern leaves open. */
function tellingIn(tokens: Token[], { from, to }: { from: number; to: number }, source: string) {
  const named = new Set(source.replace(/\\\w/g, ' ').match(/[a-z]{2,}/g))
  const isNamed = (word: string) =>
    named.has(word) || [...named].some((one) => one.length > 3 && word.startsWith(one.slice(0, -1)))
  return Array.from({ length: to - from }, (_, index) => from + index).filter((at) =>
    isNamed(tokens[at]?.word ?? ''),
  )
}

function frameFrom(
  tokens: Token[],
  { start, language, isBeginning }: { start: number; language: Language; isBeginning: boolean },
): Frame | undefined {
  const words = tokens
    .slice(start, start + MOST_WORDS)
    .map(({ word }) => word.slice(0, MOST_LETTERS))
  // The dash keeps the cut from being taken for the end of the task.
  if (start + MOST_WORDS < tokens.length) words.push('–')
  const text = words.join(' ')
  for (const { agent, beginning, ...patterns } of COMPILED) {
    const begins = isBeginning && language === 'en' ? beginning : []
    for (const pattern of [...begins, ...patterns[language]]) {
      const found = pattern.exec(text)
      if (!found) continue
      const from = start + text.slice(0, found.index).split(' ').length - 1
      const [first = ''] = found
      const to = from + first.trim().split(' ').length
      return { agent, from, to, telling: tellingIn(tokens, { from, to }, pattern.source) }
    }
  }
  return undefined
}
