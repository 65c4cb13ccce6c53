import type { Language } from '../../i18n/words.ts'
import { squashed } from './sentences.ts'

/*
 * Sentences that state nothing: a closed list of greetings, closings, questions and wishes. A
 * sentence is one of them from its first word to its last, or it is judged like any other.
 */

const WHO = '‹name›'
const EN_TIME =
  '(?: (?:next|this) (?:week|month)| tomorrow| soon| later| sometime| (?:on )?(?:monday|tuesday|wednesday|thursday|friday)| in the (?:next|coming) (?:days|weeks)){0,2}'
const EN_TALK =
  '(?:talk|meet|speak|have a (?:short |quick |brief )?(?:call|chat|talk)|discuss (?:this|it))(?: (?:to|with) (?:you|me|us))?(?: about (?:this|it))?'
const EN_SHOW =
  '(?:show|tell|send) you (?:more(?: details| information)?|(?:some |the )?details|(?:a |our )?(?:short )?(?:demo|offer|example))'

const EN = [
  `(?:hello|hi|hey|dear|good (?:morning|day|afternoon|evening))(?: (?:mr|mrs|ms|dr))?(?: ${WHO}| all| everyone| there| sir or madam)?`,
  '(?:with )?(?:kind|best|warm|many|kindest|warmest) (?:regards|wishes|thanks)',
  '(?:regards|best|cheers|sincerely|yours|yours sincerely|yours faithfully|sincerely yours|bye|goodbye|see you soon)',
  '(?:many )?(?:thanks|thank you)(?: very much| so much| a lot)?(?: in advance| for your (?:time|attention)| for reading)?',
  'have a (?:nice|good|great|lovely) (?:day|week|weekend|evening)',
  `(?:(?:i|we) (?:am|are) looking|(?:i|we) look|looking) forward to (?:hearing from you|your (?:reply|answer|feedback)|(?:talking|speaking|meeting)(?: (?:to|with))? you)${EN_TIME}`,
  `(?:i|we) hope (?:(?:that )?you are (?:doing )?well|to hear from you(?: soon)?|this (?:mail|e-mail|email|message|letter) finds you well)`,
  `(?:i|we) would be (?:happy|glad|pleased) to (?:${EN_SHOW}|${EN_TALK}|hear from you|answer (?:your|any) questions)${EN_TIME}`,
  `(?:i|we) would like to (?:${EN_SHOW}|${EN_TALK})${EN_TIME}`,
  '(?:please )?(?:let (?:me|us) know|reply|write to (?:me|us)|call (?:me|us)|contact (?:me|us)|get in touch)(?: if (?:you have (?:any )?questions|this is of interest(?: to you)?|you (?:are|would be) interested|you would like to (?:talk|know more)|that suits you)| what you think| any time)?',
  'feel free to (?:reply|ask|write|call)(?: any time)?',
  `(?:would you (?:like|be (?:free|open|available)|have (?:the )?time)|could we|can we|may we|shall we|should we|could i|can i|may i|shall i|are you (?:free|available)|do you have (?:the )?time)(?: to| for)?(?: (?:${EN_TALK}|${EN_SHOW}|a (?:short |quick |brief )?(?:call|chat|talk|demo|meeting)|call you|know more|hear more|see (?:it|more)))${EN_TIME}\\?`,
  '(?:would|does|could) (?:(?:a (?:short |quick |brief )?call|next week|this week|tomorrow|that|(?:on )?(?:monday|tuesday|wednesday|thursday|friday)) ){1,2}(?:suit|work for) you\\?',
  `(?:when|what time) (?:would be a good time|would suit you|suits you|works for you|can we talk|shall we talk)(?: (?:for a (?:short )?call|to talk))?${EN_TIME}\\?`,
  '(?:is|would|could) (?:this|that|it)(?: be)? (?:of interest|interesting|useful)(?: (?:to|for) you)?\\?',
  '(?:what do you think|how are you(?: doing)?|are you interested|who is the right person to talk to|are you the right person(?: to talk to)?|yes|interested)\\?',
  '(?:a |one )?(?:short |quick )?(?:question|note|hello|introduction|invitation)(?: (?:for|to|from) ‹name›)?\\??',
  '(?:open|visit|see) (?:the|our) (?:website|site|page)',
  '(?:learn|read|find out|see) more|book a (?:call|demo|meeting)|contact us|reply|unsubscribe|details|p\\.?s\\.?',
  `${WHO}(?: (?:and|&|for|from|to|-|–|\\|) ${WHO})*`,
]

const TR_TIME =
  '(?:(?:gelecek|önümüzdeki|bu) (?:hafta|ay|günlerde) |yarın |yakında |(?:pazartesi|salı|çarşamba|perşembe|cuma)(?: günü)? |uygun olduğunuz bir zamanda )?'
const TR_SHORT = '(?:kısaca |kısa bir |kısa |bu konuda |bunu )?'

const TR = [
  `(?:merhaba|merhabalar|selam|selamlar|sayın|sevgili|değerli|iyi günler|günaydın|iyi akşamlar)(?: ${WHO})?(?: (?:bey|hanım|yetkili|ilgili))?`,
  '(?:en içten |içten )?(?:saygılarım(?:la|ızla)|sevgiler(?:imle|imizle)?|selamlar(?:ımla|ımızla)?|saygılar)',
  '(?:çok |şimdiden |zaman ayırdığınız için |vaktiniz için )?teşekkür(?:ler| ederi[mz])',
  '(?:iyi (?:günler|çalışmalar|haftalar|akşamlar|hafta sonları)|kolay gelsin|hoşça kalın|görüşmek üzere)(?: dileri[mz])?',
  '(?:yanıtınızı|cevabınızı|haberinizi) (?:bekliyoru[mz]|bekleri[mz])',
  '(?:sizinle|sizlerle) (?:tanışmak|konuşmak|görüşmek) (?:isteri[mz]|istiyoru[mz])',
  `${TR_TIME}(?:görüşmek|konuşmak|daha fazlasını göstermek|daha fazla bilgi vermek)(?:ten|tan)? (?:isteri[mz]|memnun (?:oluru[mz]))`,
  'umarı[mz] (?:iyisinizdir|her şey yolundadır|keyfiniz yerindedir)',
  '(?:sorunuz olursa |ilgilenirseniz |uygunsa )?(?:lütfen )?(?:bana |bize )?(?:yazın|yazmanız yeterli|haber verin|yanıt verin|ulaşın)',
  `(?:sizinle )?${TR_TIME}(?:sizinle )?${TR_SHORT}(?:görüşebilir miyi[mz]|konuşabilir miyi[mz]|görüşelim mi|konuşalım mı|buluşalım mı|arayabilir miyi[mz]|sizi arayabilir miyi[mz])\\?`,
  `${TR_TIME}${TR_SHORT}(?:görüşme|görüşmek|konuşmak|tanışmak|görmek|denemek) ister misiniz\\?`,
  '(?:size )?(?:daha fazla bilgi|ayrıntıları|ayrıntılı bilgi|bir örnek|teklifimizi) (?:gönderebilir miyi[mz]|göndereyim mi|gönderelim mi|ister misiniz)\\?',
  '(?:bu )?(?:ilginizi çeker mi|sizin için uygun mu|uygun mu|ne dersiniz|ne düşünürsünüz|nasılsınız|ilgilenir misiniz)\\?',
  `(?:ne zaman|hangi gün) (?:uygunsunuz|görüşebiliriz|konuşabiliriz|müsaitsiniz)\\?`,
  `${TR_TIME}(?:uygun musunuz|müsait misiniz|vaktiniz var mı|zamanınız var mı)\\?`,
  '(?:‹name› için )?(?:kısa )?(?:bir )?(?:soru|not|selam|davet|tanışma)(?: ‹name›)?\\??',
  'siteyi açın|web sitemizi açın|daha fazla(?:sı| bilgi)|ayrıntılar|bize ulaşın|yanıtla|abonelikten çık',
  `${WHO}(?: (?:ve|&|için|-|–|\\|) ${WHO})*`,
]

const LISTS: Record<Language, RegExp> = {
  en: new RegExp(`^(?:${EN.join('|')})$`, 'u'),
  tr: new RegExp(`^(?:${TR.join('|')})$`, 'u'),
}
const LONGEST = 200
const FIELDS = /\{(?:first_name|name|company)\}/gu

/**
 * isHarmless returns whether a sentence states nothing. `names` are those of the reader and of us;
 * a sentence with a number or with another name is never harmless.
 */
export function isHarmless(sentence: string, names: string[], language: Language): boolean {
  if (sentence.length > LONGEST || /\p{N}/u.test(sentence)) return false
  const [hello = '', ...others] = names
    .filter((name) => name.trim() !== '')
    .sort((a, b) => b.length - a.length)
  let text = squashed(sentence)
    .replace(FIELDS, WHO)
    .replace(/[’ʼ`´‘]/gu, "'")
  for (const name of [hello, ...others]) {
    if (name === '') continue
    const exact = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    text = text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${exact}(?![\\p{L}\\p{N}])`, 'giu'), WHO)
  }
  const even = text
    .toLocaleLowerCase(language)
    .replace(/[,;:!.…"“”]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ \?/g, '?')
    .trim()
    .replace(/\?+$/, '?')
  return LISTS[language].test(even)
}

/** namesToGreet lists what the reader and we may be called in a harmless sentence. */
export function namesToGreet(given: (string | null | undefined)[]): string[] {
  return given.flatMap((name) => {
    const whole = name?.trim() ?? ''
    if (whole === '') return []
    const first = whole.split(/\s+/).find((word) => !word.endsWith('.'))
    return first && first !== whole ? [whole, first] : [whole]
  })
}
