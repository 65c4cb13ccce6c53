import { isEverybody, isSomebody } from './people.ts'
import { type Token, writtenIn } from './tokens.ts'

/** What leads to whom a task is for. */
const TO =
  /^(?:to|for|with|mail|email|write|ask|tell|remind|thank|message|contact|invite|nudge|ping|chase|call|text|reach|answer|greet|update|inform)$/
const BETWEEN = new Set(
  'the our my all any some those these every each other a an of up'.split(' '),
)
/** What makes of people in general some of them. */
const WHICH = new Set('who that whom whose we i in from at with without on'.split(' '))
/** A thing of theirs: "a customer letter". */
const THINGS =
  /^(?:mails?|emails?|e|letters?|messages?|lists?|base|data|stor(?:y|ies)|support|service|relations?|portal|meetings?|notes?|feedback|survey|visits?)$/
const HEAR = /^(?:gets?|receives?|needs?|should|must|hears?)$/
const PLURAL_TO_TR = '(?:lara|lere|larina|lerine|larimiza|lerimize)'
const DESCRIBED_TR = new RegExp(
  `^(?:(?:aday|musteri|kisi|firma|sirket|lead|abone|uye|insan|patron|mudur|yonetici|alici)\\w*${PLURAL_TO_TR}` +
    `|\\w*(?:[^aeiou\\W][ae]n|y[ae]n|[dt][iu]k|m[iu]s)${PLURAL_TO_TR}` +
    '|(?:musteri|firma|sirket|kisi|aday|lead)(?:y[ae]|s?[iu]n[ae]|m[iu]z[ae])|birine|birilerine)$',
)

/**
 * describedIn finds for whom a task is where it says so, but in words that name neither a lead nor a
 * group that is known: "the ones we met in Berlin", "teklif bekleyenlere".
 */
export function describedIn(tokens: Token[]): string | undefined {
  for (const [at, token] of tokens.entries()) {
    if (DESCRIBED_TR.test(token.word)) return writtenIn(tokens, at - 1, at + 1)
    const isPeople = isSomebody(token.word) || /^(?:ones|guys|folks)$/.test(token.word)
    if (!isPeople || token.isName || THINGS.test(tokens[at + 1]?.word ?? '')) continue
    // "our best customers", "to old customers"
    const isMore = (here: number) =>
      BETWEEN.has(tokens[here]?.word ?? '') || TO.test(tokens[here]?.word ?? '')
    let before = !isMore(at - 1) && isMore(at - 2) ? at - 2 : at - 1
    while (BETWEEN.has(tokens[before]?.word ?? '') && !tokens[before + 1]?.isFirst) before -= 1
    const isTold = TO.test(tokens[before]?.word ?? '') && !tokens[before + 1]?.isFirst
    const isSome = WHICH.has(tokens[at + 1]?.word ?? '') && isEverybody(token.word)
    // "All Turkish leads should hear about it"
    const isHeard =
      before < at - 1 &&
      isEverybody(tokens[before + 1]?.word) &&
      HEAR.test(tokens[at + 1]?.word ?? '')
    if (isTold || isHeard || (isSome && token.isFirst)) return writtenIn(tokens, before + 1, at + 4)
  }
  return undefined
}
