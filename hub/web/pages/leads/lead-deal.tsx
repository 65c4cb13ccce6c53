import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DateInput } from '../../../../web/ui/dates/inputs.tsx'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { amountOf, cellOfNumber, typedNumber } from '../../../leads/cells.ts'
import { useProject } from '../../project.ts'
import { dealText } from './deal.text.ts'
import { dealSettingsQuery, fieldsQuery, type OwnField } from './deal-queries.ts'
import { EditableRow, Heading, Row } from './lead-rows.tsx'
import type { Lead, LeadChange } from './queries.ts'

type Part = {
  lead: Lead
  isReadOnly: boolean
  /** Answers whether the hub has taken it. */
  set: (change: Omit<LeadChange, 'id'>) => Promise<boolean>
}

/** Why a decided deal was won or lost: a reason of the team's, or one's own words. */
export function Outcome({ lead, isReadOnly, set }: Part) {
  const text = useText(dealText)
  const { slug } = useProject()
  const settings = useQuery(dealSettingsQuery(slug)).data
  const [isOther, setOther] = useState(false)
  const isWon = lead.stage === 'won'
  const known = (isWon ? settings?.won_reasons : settings?.lost_reasons) ?? []
  const label = isWon ? text.won_reason : text.lost_reason
  const reason = lead.outcome_reason ?? ''
  const isFree = known.length === 0 || isOther || (reason !== '' && !known.includes(reason))
  return (
    <>
      {isFree ? (
        <EditableRow
          label={label}
          value={reason}
          isReadOnly={isReadOnly}
          onChange={async (value) => {
            const isTaken = await set({ outcome_reason: value || null })
            if (isTaken) setOther(false)
            return isTaken
          }}
        />
      ) : (
        <Row label={label}>
          <Select
            aria-label={label}
            className="w-full"
            disabled={isReadOnly}
            value={reason}
            onChange={({ target }) => {
              if (target.value === OTHER) setOther(true)
              else set({ outcome_reason: target.value || null })
            }}
            options={[
              { value: '', label: text.no_reason },
              ...known.map((value) => ({ value, label: value })),
              { value: OTHER, label: text.other_reason },
            ]}
          />
        </Row>
      )}
      <EditableRow
        label={text.outcome_note}
        value={lead.outcome_note ?? ''}
        isReadOnly={isReadOnly}
        onChange={(value) => set({ outcome_note: value || null })}
      />
    </>
  )
}

/** No reason of a team is this. */
const OTHER = '\u0000other'

/** What the deal is worth, when it is expected, and what comes next. */
export function Deal({ lead, isReadOnly, set }: Part) {
  const text = useText(dealText)
  const language = useLanguage()
  const { amount, currency } = lead
  const shown =
    amount === null ? '' : `${number(language, amount, { maximumFractionDigits: 2 })} ${currency}`
  return (
    <>
      <Heading>{text.deal}</Heading>
      <EditableRow
        label={text.amount}
        value={shown}
        hint={text.amount_hint}
        isReadOnly={isReadOnly}
        onChange={(value) => {
          if (value === '') return set({ amount: null })
          const read = amountOf(value)
          const code = read?.currency ?? currency
          if (!read || !code) {
            toast(text.wrong_amount, { kind: 'failed' })
            return false
          }
          return set({ amount: read.amount, currency: code })
        }}
      />
      <DateRow
        label={text.close_on}
        value={lead.close_on}
        isReadOnly={isReadOnly}
        onChange={(close_on) => set({ close_on })}
      />
      <EditableRow
        label={text.next_step}
        value={lead.next_step ?? ''}
        isReadOnly={isReadOnly}
        onChange={(value) => set({ next_step: value || null })}
      />
    </>
  )
}

/** The fields that this project has of its own. */
export function OwnFields({ lead, isReadOnly, set }: Part) {
  const text = useText(dealText)
  const { slug } = useProject()
  const fields = useQuery(fieldsQuery(slug)).data ?? []
  if (fields.length === 0) return null
  return (
    <>
      <Heading>{text.own}</Heading>
      {fields.map((field) => (
        <OwnValue
          key={field.key}
          field={field}
          value={lead.custom[field.key]}
          isReadOnly={isReadOnly}
          onChange={(value) => set({ custom: { [field.key]: value } })}
        />
      ))}
    </>
  )
}

function OwnValue({
  field,
  value,
  isReadOnly,
  onChange,
}: {
  field: OwnField
  value: string | number | boolean | undefined
  isReadOnly: boolean
  onChange: (value: string | number | boolean | null) => Promise<boolean>
}) {
  const text = useText(dealText)
  const { kind, label, choices = [] } = field
  if (kind === 'date') {
    const day = typeof value === 'string' ? value : null
    return <DateRow label={label} value={day} isReadOnly={isReadOnly} onChange={onChange} />
  }
  if (kind === 'choice' || kind === 'yes_no') {
    const options =
      kind === 'choice'
        ? choices.map((one) => ({ value: one, label: one }))
        : [
            { value: 'true', label: text.yes },
            { value: 'false', label: text.no },
          ]
    return (
      <Row label={label}>
        <Select
          aria-label={label}
          className="w-full"
          disabled={isReadOnly}
          value={value === undefined ? '' : String(value)}
          onChange={({ target }) => {
            if (target.value === '') onChange(null)
            else onChange(kind === 'choice' ? target.value : target.value === 'true')
          }}
          options={[{ value: '', label: text.empty }, ...options]}
        />
      </Row>
    )
  }
  return (
    <EditableRow
      label={label}
      // As it is typed: 41.125 would be read as 41125 when it is saved again.
      value={String((typeof value === 'number' ? cellOfNumber(value) : value) ?? '')}
      isReadOnly={isReadOnly}
      {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
      onChange={(typed) => {
        if (typed === '') return onChange(null)
        // The hub says what is wrong with it.
        return onChange(kind === 'number' ? (typedNumber(typed) ?? typed) : typed)
      }}
    />
  )
}

/** Where the lawful basis is on record, and for a legitimate interest which it is. */
export function BasisDetails({ lead, isReadOnly, set }: Part) {
  const text = useText(dealText)
  if (!lead.lawful_basis) return null
  return (
    <>
      {lead.lawful_basis === 'legitimate_interest' ? (
        <EditableRow
          label={text.basis_note}
          value={lead.basis_note ?? ''}
          isReadOnly={isReadOnly}
          onChange={(value) => set({ basis_note: value || null })}
        />
      ) : null}
      <EditableRow
        label={text.basis_source}
        value={lead.basis_source ?? ''}
        isReadOnly={isReadOnly}
        onChange={(value) => set({ basis_source: value || null })}
      />
      <DateRow
        label={text.basis_on}
        value={lead.basis_on}
        isReadOnly={isReadOnly}
        onChange={(basis_on) => set({ basis_on })}
      />
    </>
  )
}

function DateRow({
  label,
  value,
  isReadOnly,
  onChange,
}: {
  label: string
  value: string | null
  isReadOnly: boolean
  onChange: (value: string | null) => void
}) {
  return (
    <Row label={label}>
      <DateInput
        aria-label={label}
        disabled={isReadOnly}
        value={value ?? ''}
        onChange={(day) => onChange(day || null)}
      />
    </Row>
  )
}
