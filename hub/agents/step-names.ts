import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import { stepText } from './steps.text.ts'

type Steps = typeof stepText.en
type Numbered = {
  [K in keyof Steps]: Steps[K] extends string ? never : K
}[keyof Steps]

/** The name of a step: a key of its texts, some followed by a number or a path. */
export type StepName = keyof Steps | `${Numbered} ${string}`

const say = bilingual(stepText)

/** stepTitle returns a step's name for people. */
export function stepTitle(name: string): Words {
  const space = name.indexOf(' ')
  const [first, rest] = space < 0 ? [name, ''] : [name.slice(0, space), name.slice(space + 1)]
  const whole = Object.entries(say).find(([key]) => key === name)?.[1]
  const title = whole ?? Object.entries(say).find(([key]) => key === first)?.[1]
  if (title === undefined) return verbatim(name)
  if (typeof title !== 'function') return title
  const { en, tr } = title(rest)
  return { en: en.trim(), tr: tr.trim() }
}
