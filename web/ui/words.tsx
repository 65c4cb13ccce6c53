import { createContext, useContext } from 'react'

/** The texts of the components themselves, in the language of the page. */
export type Words = {
  locale: string
  close: string
  retry: string
  copy: string
  copied: string
  dismiss: string
  optional: string
  request_id: string
  loading: string
  more: string
  show: string
  hide: string
  /** Why something could not be loaded or done. */
  failed: { title: string; unreachable: string; unknown: string }
}

const WordsContext = createContext<Words | undefined>(undefined)
export const WordsProvider = WordsContext.Provider

export function useWords(): Words {
  const words = useContext(WordsContext)
  if (!words) throw new Error('components need a WordsProvider around them')
  return words
}
