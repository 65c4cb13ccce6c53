/** Words for people and firms of any kind, as a customer list speaks of them. */
const PEOPLE =
  /^(?:leads?|contacts?|customers?|clients?|prospects?|people|persons?|compan(?:y|ies)|firms?|those|aday|musteri|firma|sirket|kisi)/
/** Words for all of them. */
const EVERYBODY = /^(?:everyone|everybody|all|herkes|tum|butun|hepsi)/
/** Words for one of whom only a relation or nothing is known; whoever is meant has no name. */
const SOMEBODY =
  /^(?:some(?:one|body)|any(?:one|body)|who(?:m?ever)?|whom|man|men|wom[ae]n|boss(?:es)?|colleagues?|competitors?|rivals?|suppliers?|neighbou?rs?|friends?|partners?|owners?|managers?|agenc(?:y|ies)|team|staff|birine?|birileri\w*|kimse\w*|biri)$/

/** isPeople says whether a folded word means people or firms in general: "customers", "firmalara". */
export const isPeople = (word: string | undefined) => PEOPLE.test(word ?? '')

/** isEverybody says whether a folded word means all of them: "everyone", "herkese". */
export const isEverybody = (word: string | undefined) => EVERYBODY.test(word ?? '')

/** isSomebody says whether a folded word means people, named or not: "whoever", "the rival". */
export const isSomebody = (word: string | undefined) =>
  isPeople(word) || isEverybody(word) || SOMEBODY.test(word ?? '')
