import type { Language } from '../../shared/words/texts.ts'
import { cn } from './class-names.ts'
import { LANGUAGE_NAMES, setLanguage, useLanguage } from './language.ts'

/** Switches the language on pages without a sidebar. */
export function LanguageSwitch() {
  const current = useLanguage()
  const languages = Object.entries(LANGUAGE_NAMES) as [Language, string][] // safe: the keys of LANGUAGES
  return (
    <div className="flex gap-1">
      {languages.map(([language, name]) => (
        <button
          key={language}
          type="button"
          lang={language}
          aria-pressed={language === current}
          onClick={() => setLanguage(language)}
          className={cn(
            'rounded-control px-2 py-1 text-sm pointer-coarse:px-3 pointer-coarse:py-2',
            language === current ? 'font-medium text-fg' : 'text-muted hover:text-fg',
          )}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
