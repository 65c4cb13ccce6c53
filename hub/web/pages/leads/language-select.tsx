import { useLanguage, useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { languageName } from '../../../leads/languages.ts'
import { languageText } from './language.text.ts'
import { Row } from './lead-rows.tsx'
import { leadsText } from './leads.text.ts'

/** The languages that the hub writes. */
const WRITTEN = ['tr', 'en']

/** useLanguageName names a language by its code. */
export function useLanguageName() {
  const { names } = useText(languageText)
  const language = useLanguage()
  return (code: string) =>
    Object.entries(names).find(([known]) => known === code)?.[1] ?? languageName(code, language)
}

/** The languages to choose from: those that the hub writes first, then the others by name. */
export function useLanguageOptions(own?: string | null) {
  const { by_country, names } = useText(languageText)
  const language = useLanguage()
  const nameOf = useLanguageName()
  const codes = new Set([...Object.keys(names), ...(own ? [own] : [])])
  const others = [...codes]
    .filter((code) => !WRITTEN.includes(code))
    .map((value) => ({ value, label: nameOf(value) }))
  return [
    { value: '', label: by_country },
    ...WRITTEN.map((value) => ({ value, label: nameOf(value) })),
    ...others.sort((a, b) => a.label.localeCompare(b.label, language)),
  ]
}

/** The language of a lead; one that the hub does not write says so. */
export function LanguageRow({
  value,
  isReadOnly,
  onChange,
}: {
  value: string | null
  isReadOnly: boolean
  onChange: (value: string | null) => void
}) {
  const { fields } = useText(leadsText)
  const text = useText(languageText)
  const nameOf = useLanguageName()
  const options = useLanguageOptions(value)
  const isWritten = !value || WRITTEN.includes(value)
  return (
    <Row label={fields.language} {...(isWritten ? {} : { hint: text.unwritten(nameOf(value)) })}>
      <Select
        aria-label={fields.language}
        className="w-full"
        disabled={isReadOnly}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value || null)}
        options={options}
      />
    </Row>
  )
}
