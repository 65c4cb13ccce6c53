import { createContext, type ReactNode, useContext } from 'react'
import { localeOf, useLanguage } from './language.ts'
import { wordsText } from './words.text.ts'

/** A refusal of the server in the language of the page: what it says as a whole, and of a field. */
type Refusal = {
  detail: (problem: { code: string; detail: string }) => string
  message: (message: string) => string
}

/** The texts of the components themselves, in the language of the page. */
export type Words = Record<keyof typeof wordsText.en, string> & {
  locale: string
  /** Why something could not be loaded or done: the interface's own words. */
  failed: {
    title: string
    unreachable: string
    unknown: string
    /** Absent where the server speaks the reader's language. */
    refusal?: Refusal
  }
}

const WordsContext = createContext<Words | undefined>(undefined)

/** Gives the components inside their words in the language of the page. */
export function WordsProvider({
  failed,
  children,
}: Pick<Words, 'failed'> & { children: ReactNode }) {
  const language = useLanguage()
  return (
    <WordsContext value={{ locale: localeOf(language), ...wordsText[language], failed }}>
      {children}
    </WordsContext>
  )
}

export function useWords(): Words {
  const words = useContext(WordsContext)
  if (!words) throw new Error('components need a WordsProvider around them')
  return words
}
