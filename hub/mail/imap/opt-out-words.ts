/**
 * Whether a reply asks for no more mail. `open`: it may, and a person decides; the address gets no mail
 * until then.
 */
export type OptOutInWords = 'yes' | 'no' | 'open'

/** Lower-case letters without marks, so that İ, ı, ş and é are i, i, s and e. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replace(/[’‘`´]/g, "'")
}

const MAILS =
  '(?:(?:any |your |these |such |further |more |sales |marketing )*(?:e-?mails?|mails?|messages?|newsletters?))'
const LIST =
  '(?:(?:your|this|the|that) )?(?:(?:e-?mail|mailing|mail|contact|distribution|newsletter) ?)?(?:lists?|database|records|mailings?)'
const LATER = '(?: (?:again|any ?more|any longer|in (?:the )?future|from now on))?'
const ENGLISH = [
  'unsubscribe(?: me| us)?(?: from (?:LIST|MAILS))?',
  "(?:i|we)(?: would|'d)? (?:want|wish|like) to (?:unsubscribe|opt out|be (?:removed|unsubscribed|taken off))(?: from (?:LIST|MAILS))?",
  '(?:opt (?:me |us )?out|i opt out|we opt out)(?: of (?:LIST|MAILS))?',
  '(?:remove|delete|take) (?:me|us|my (?:e-?mail(?: address)?|address|name|details|data))(?: (?:off|from|out of))+ LIST',
  '(?:remove|delete) (?:me|us)',
  '(?:stop|cease) (?:e-?mailing|mailing|writing(?: to)?|contacting|messaging|spamming) (?:me|us)LATER',
  "(?:do not|don't|dont|never) (?:e-?mail|mail|write(?: to)?|contact|message|spam) (?:me|us)LATER",
  '(?:stop|cease) sending (?:me |us )?MAILSLATER(?: to (?:me|us))?LATER',
  "(?:do not|don't|dont|never) send (?:me |us )?MAILS(?: to (?:me|us))?LATER",
  '(?:stop|quit) (?:it|this|these) ?MAILS?',
  'no more MAILS',
  "(?:i|we) (?:do not|don't|dont|no longer) (?:want|wish)(?: to (?:receive|get))? MAILS(?: from you)?LATER",
]
  .join('|')
  .replaceAll('MAILS', MAILS)
  .replaceAll('LIST', LIST)
  .replaceAll('LATER', LATER)

const POSTA = '(?:e-?posta|e-?mail|mail|mesaj|bulten|ileti|reklam)'
const LISTEDEN =
  '(?:(?:bu|sizin|mail|e-?posta|e-?mail|iletisim|bulten|gonderim|mailing)? ?(?:liste(?:niz|leriniz)?den|liste(?:niz|leriniz)?deki kayitlarinizdan|veri ?taban(?:i|iniz)dan|kayitlarinizdan|rehberinizden))'
const CIKARIN =
  '(?:cikar(?:in|iniz|tin|tiniz|ir misin(?:iz)?|abilir misin(?:iz)?)|sil(?:in|iniz|er misin(?:iz)?|ebilir misin(?:iz)?)|kaldir(?:in|iniz|ir misin(?:iz)?))'
const ETMEYIN =
  '(?:(?:yazma|(?:POSTA )?(?:atma|gonderme|yollama)|iletisime gecme|rahatsiz etme)(?:yin|yiniz))'
const TURKISH = [
  '(?:(?:beni|bizi|adresimi|adresimizi|mailimi|(?:e-?posta|e-?mail|mail) adresim(?:iz)?i) )?LISTEDEN (?:(?:beni|bizi|adresimi) )?CIKARIN',
  '(?:(?:beni|bizi|adresimi|adresimizi|mailimi|(?:e-?posta|e-?mail|mail) adresim(?:iz)?i) )CIKARIN',
  'CIKARIN',
  '(?:(?:bir daha|artik|bundan sonra|bana|bize|beni|bizi|boyle|bu tur) )*ETMEYIN(?: artik)?',
  '(?:abonelikten|uyelikten|bultenden|LISTEDEN) (?:cik(?:mak istiyor(?:um|uz))?|cikar(?:in|iniz)?|ayril(?:mak istiyor(?:um|uz))?)',
  '(?:abonelig|uyelig)im(?:iz)?i (?:iptal ed(?:in|iniz|er misin(?:iz)?)|sonlandirin)',
  '(?:(?:artik|sizden|bir daha|bu) )*POSTA(?:ler|lar|leri|lari|lerinizi|larinizi|inizi)? (?:almak |gelsin )?istemiyor(?:um|uz)',
]
  .join('|')
  .replaceAll('LISTEDEN', LISTEDEN)
  .replaceAll('CIKARIN', CIKARIN)
  .replaceAll('ETMEYIN', ETMEYIN)
  .replaceAll('POSTA', POSTA)

const PLEASE =
  '(?:(?:please|pls|kindly|just|ok|okay|no thanks?|no thank you|lutfen|rica etsem|(?:can|could|would|will) you(?: please)?|hayir)[ ,]*)*'
const THANKS =
  '(?:[ ,]*(?:please|now|immediately|thanks|thank you|thx|at once|lutfen|hemen|derhal|tesekkurler|tesekkur ederim))*'
const ASKS = new RegExp(`^${PLEASE}(?:${ENGLISH}|${TURKISH})${THANKS}$`)
/** A question that asks for it, and not one about it. */
const ASKS_POLITELY =
  /^(?:(?:please|pls|kindly|ok|okay|no thanks?|no thank you|lutfen)[ ,]+)*(?:can|could|would|will) you\b|\bmisin(?:iz)?$/

/** What stands around a request and says nothing of its own. */
const POLITE =
  /^(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|day|evening)|merhaba(?:lar)?|selam(?:lar)?|sayin|iyi (?:gunler|calismalar|aksamlar)|gunaydin)(?: [\p{L}'.-]+){0,3}|(?:(?:many |kind |best |warm )?(?:thanks|thank you|regards|sincerely|cheers)|no thank(?:s| you)|tesekkurler|tesekkur ederim|saygilar(?:imla|imizla)?|sevgiler|kolay gelsin|hayir|no|hayir tesekkurler)(?: in advance| very much)?)$/u
/** Any of these words in a reply is worth a person's look. */
const MENTIONS = new RegExp(
  [
    '\\bunsubscrib',
    '\\bopt(?:ed|ing)?[ -]?(?:me |us )?out\\b',
    '\\b(?:remove|delete|take) (?:me|us|my|our)\\b',
    '\\b(?:stop|cease|quit) (?:e-?mail|mail|writing|sending|contacting|messaging|spamming|this|these)',
    "\\b(?:do not|don't|dont|never|no longer) (?:e-?mail|mail|write|contact|message|send|spam|want|wish)",
    '\\bno more (?:e-?)?(?:mail|message|newsletter)',
    '\\b(?:spam|gdpr|kvkk)\\b',
    '\\b(?:cikar|cikart)(?:in|iniz|tin|ir|abilir|ilma|mani)',
    '\\b(?:listenizden|listeden|abonelik|abonelig|uyelikten|bultenden)',
    '\\b(?:yazmayin|gondermeyin|atmayin|yollamayin|gecmeyin|etmeyin|aramayin)',
    '\\b(?:silin|siliniz|siler misin|kaldirin)',
    '\\bistemiyor(?:um|uz)\\b',
  ].join('|'),
)

/**
 * asksToStop judges a reply without its quotes. `yes` only if it says nothing else than that no more
 * mail is wanted: a condition, a quotation or a question about opting out is for a person.
 */
export function asksToStop(subject: string, text: string | null): OptOutInWords {
  const said = fold(text ?? '')
  const sentences = said
    .split(/(?<=[.!?])\s+|\n+|;/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}/u.test(sentence))
  const plain = sentences.filter((sentence) => !POLITE.test(bare(sentence)))
  const isAsked = asks(fold(subject))
  if (plain.length === 0) return isAsked ? 'yes' : 'no'
  // The name below a request is the last line, and names are one to three words.
  const last = plain.length > 1 ? plain.at(-1) : undefined
  const requests = last && !asks(last) && isName(text ?? '') ? plain.slice(0, -1) : plain
  if (requests.every(asks)) return 'yes'
  return isAsked || MENTIONS.test(said) ? 'open' : 'no'
}

function asks(sentence: string): boolean {
  if (!ASKS.test(bare(sentence))) return false
  return !sentence.endsWith('?') || ASKS_POLITELY.test(bare(sentence))
}

function bare(sentence: string): string {
  return sentence
    .replace(/^[\s"'*-]+|[\s.!?,:*"'-]+$/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/^(?:re|ynt|aw|antw): */, '')
}

/** Whether the last line is a name: one to three words that begin with a capital letter. */
function isName(text: string): boolean {
  const last = text.trimEnd().split('\n').at(-1)?.trim() ?? ''
  return /^\p{Lu}[\p{L}'.-]*(?: \p{Lu}[\p{L}'.-]*){0,2}$/u.test(last)
}
