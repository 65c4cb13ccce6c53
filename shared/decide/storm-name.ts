const CLASS_AND_NAME =
  /\b(?:HURRICANE|TYPHOON|CYCLONE|STORM|DEPRESSION)\s+([A-Z]+(?:['-][A-Z]+)*)(?![A-Z0-9])/g
const ONES = 'ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE'
const TEENS = 'TEN|ELEVEN|TWELVE|THIRTEEN|FOURTEEN|FIFTEEN|SIXTEEN|SEVENTEEN|EIGHTEEN|NINETEEN|ZERO'
const TENS = 'TWENTY|THIRTY|FORTY'
/** A depression without a name is called by its number: TWO, TWENTY-ONE, or NINE-E in the eastern Pacific. */
const NUMBER = new RegExp(`^(${ONES}|${TEENS}|(${TENS})(-?(${ONES}))?)(-[A-Z])?$`)
const NO_NAMES = ['UNNAMED', 'INVEST', 'IN', 'OF', 'FROM', 'WARNING', 'WATCH', 'SURGE', 'ALERT']

/** The name of a tropical cyclone in a title such as `Hurricane Teddy` or `… cyclone TEDDY-20 …`; null if it has none. */
export function stormName(title: string): string | null {
  const plain = title.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()
  const names = [...plain.matchAll(CLASS_AND_NAME)].map(([, name = '']) => name)
  const [name] = names.filter((name) => !NUMBER.test(name) && !NO_NAMES.includes(name))
  return name ?? null
}
