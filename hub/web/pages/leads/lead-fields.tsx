import { useState } from 'react'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import type { Schemas } from '../../api/client.ts'
import { dealText } from './deal.text.ts'
import { LanguageRow } from './language-select.tsx'
import { BasisDetails, Deal, Outcome, OwnFields } from './lead-deal.tsx'
import { EditableRow, Heading, Row } from './lead-rows.tsx'
import { leadsText } from './leads.text.ts'
import { type Lead, type LeadChange, useChangeLead } from './queries.ts'
import { STAGES, type Stage } from './stage.tsx'

const TEXTS = ['name', 'email', 'company', 'title', 'phone', 'website', 'country'] as const
type Basis = NonNullable<Lead['lawful_basis']>
const INTEREST = 'legitimate_interest'
const BASES = ['consent', 'contract', 'legitimate_interest'] as const satisfies readonly Basis[]

export function basisOf(value: string): Schemas['Lead']['lawful_basis'] {
  return BASES.find((basis) => basis === value) ?? null
}

export function useBasisOptions() {
  const { basis } = useText(leadsText)
  return [
    { value: '', label: basis.none },
    ...BASES.map((value) => ({ value, label: basis[value] })),
  ]
}

/** The fields of a lead, edited in place. */
export function LeadFields({ lead, isReadOnly }: { lead: Lead; isReadOnly: boolean }) {
  const text = useText(leadsText)
  const change = useChangeLead()
  const deals = useText(dealText)
  const bases = useBasisOptions()
  const set = (field: Omit<LeadChange, 'id'>) =>
    change.mutateAsync({ id: lead.id, ...field }).then(
      () => true,
      () => false,
    )
  const part = { lead, isReadOnly, set }
  // A legitimate interest is set together with its note.
  const [isMeant, setMeant] = useState(false)
  const needsNote = isMeant && lead.lawful_basis !== INTEREST
  return (
    <div className="flex flex-col gap-0.5 p-5">
      <Row label={text.fields.stage}>
        <Select
          aria-label={text.fields.stage}
          className="w-full"
          disabled={isReadOnly}
          value={lead.stage}
          onChange={(event) => set({ stage: event.target.value as Stage })} // safe: one of the options
          options={STAGES.map((value) => ({ value, label: text.stages[value] }))}
        />
      </Row>
      {lead.stage === 'won' || lead.stage === 'lost' ? <Outcome {...part} /> : null}
      {TEXTS.map((field) => (
        <EditableRow
          key={field}
          label={text.fields[field]}
          value={lead[field] ?? ''}
          isReadOnly={isReadOnly}
          onChange={(value) => set({ [field]: value || null })}
        />
      ))}
      <LanguageRow
        value={lead.language}
        isReadOnly={isReadOnly}
        onChange={(language) => set({ language })}
      />
      <EditableRow
        label={text.fields.source}
        value={lead.source ?? ''}
        isReadOnly={isReadOnly}
        onChange={(value) => set({ source: value || null })}
      />
      <EditableRow
        label={text.fields.score}
        value={lead.score === null ? '' : String(lead.score)}
        isReadOnly={isReadOnly}
        inputMode="numeric"
        onChange={(value) => {
          if (value === '') return set({ score: null })
          if (/^\d+$/.test(value) && Number(value) <= 100) return set({ score: Number(value) })
          toast(text.wrong_score, { kind: 'failed' })
          return false
        }}
      />
      <EditableRow
        label={text.fields.tags}
        value={lead.tags.join(', ')}
        isReadOnly={isReadOnly}
        onChange={(value) =>
          set({ tags: [...new Set(value.split(/[,;]/).map((tag) => tag.trim()))].filter(Boolean) })
        }
      />
      <Deal {...part} />
      <OwnFields {...part} />
      <Heading>{deals.basis}</Heading>
      <Row
        label={text.fields.lawful_basis}
        hint={lead.lawful_basis ? deals.meaning[lead.lawful_basis] : text.basis_hint}
      >
        <Select
          aria-label={text.fields.lawful_basis}
          className="w-full"
          disabled={isReadOnly}
          value={needsNote ? INTEREST : (lead.lawful_basis ?? '')}
          onChange={({ target: { value } }) => {
            const mustWait = value === INTEREST && !lead.basis_note
            setMeant(mustWait)
            if (!mustWait) set({ lawful_basis: basisOf(value) })
          }}
          options={bases}
        />
      </Row>
      {needsNote ? (
        <EditableRow
          label={deals.basis_note}
          hint={deals.bulk.note}
          value=""
          isReadOnly={isReadOnly}
          onChange={(basis_note) => {
            return basis_note !== '' && set({ lawful_basis: INTEREST, basis_note })
          }}
        />
      ) : (
        <BasisDetails {...part} />
      )}
    </div>
  )
}
