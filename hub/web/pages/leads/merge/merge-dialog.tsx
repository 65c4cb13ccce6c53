import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeftRight } from 'lucide-react'
import { useState } from 'react'
import { errorMessage, FailedQuery, hasFailed } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { cn } from '../../../../../web/ui/class-names.ts'
import { Notice } from '../../../../../web/ui/form.tsx'
import { localeOf, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok } from '../../../api/client.ts'
import { common } from '../../../common.text.ts'
import { useProject } from '../../../project.ts'
import { fieldsQuery } from '../deal-queries.ts'
import { useLanguageName } from '../language-select.tsx'
import { leadsText } from '../leads.text.ts'
import { money } from '../money.ts'
import { type LeadWhole, leadQuery, nameOf, refreshLeads } from '../queries.ts'
import { mergeText } from './merge.text.ts'
import { useUndoMerge } from './undo-merge.tsx'

const FIELDS = [
  'name',
  'email',
  'company',
  'title',
  'phone',
  'website',
  'country',
  'language',
  'stage',
  'source',
  'lawful_basis',
  'score',
  'amount',
  'close_on',
  'next_step',
] as const
type Side = 'kept' | 'gone'

/** Two leads side by side: each field's value is chosen, and the two become one. */
export function MergeDialog({
  ids,
  onClose,
  onDone,
}: {
  ids: [string, string]
  onClose: () => void
  onDone: () => void
}) {
  const { merge: text } = useText(mergeText)
  const first = useQuery(leadQuery(ids[0]))
  const second = useQuery(leadQuery(ids[1]))
  const failed = [first, second].find(hasFailed)
  return (
    <Dialog isOpen onClose={onClose} title={text.title} size="lg">
      {failed ? (
        <FailedQuery error={failed.error} onRetry={() => failed.refetch()} />
      ) : first.data && second.data ? (
        <SideBySide leads={[first.data, second.data]} onClose={onClose} onDone={onDone} />
      ) : (
        <SkeletonRows rows={6} />
      )}
    </Dialog>
  )
}

function SideBySide({
  leads,
  onClose,
  onDone,
}: {
  leads: [LeadWhole, LeadWhole]
  onClose: () => void
  onDone: () => void
}) {
  const { merge: text } = useText(mergeText)
  const { fields: names, basis, stages, unnamed } = useText(leadsText)
  const words = useWords()
  const { cancel } = useText(common)
  const language = useLanguage()
  const languageNameOf = useLanguageName()
  const { slug } = useProject()
  const own = useQuery(fieldsQuery(slug)).data ?? []
  const queryClient = useQueryClient()
  const [isSwapped, setSwapped] = useState(false)
  const [choices, setChoices] = useState<Record<string, Side>>({})
  const [kept, gone] = isSwapped ? [leads[1], leads[0]] : leads
  const undo = useUndoMerge()
  const merge = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/lead/merge', {
          body: { kept_id: kept.id, gone_id: gone.id, choices },
        }),
      ),
    onSuccess: async ({ merge }) => {
      queryClient.removeQueries({ queryKey: ['lead', gone.id] })
      await refreshLeads(queryClient)
      toast(merge.dropped > 0 ? `${text.done}. ${text.dropped(merge.dropped)}` : text.done, {
        action: { label: words.undo, onClick: () => undo.mutate(merge.id) },
      })
      onDone()
    },
  })
  const show = (lead: LeadWhole, field: (typeof FIELDS)[number]): string => {
    if (field === 'stage') return stages[lead.stage]
    if (field === 'language') return lead.language ? languageNameOf(lead.language) : ''
    if (field === 'lawful_basis') return lead.lawful_basis ? basis[lead.lawful_basis] : ''
    if (field === 'amount') {
      if (lead.amount === null || !lead.currency) return ''
      return money(localeOf(language), lead.amount, lead.currency)
    }
    return String(lead[field] ?? '')
  }
  const { amount, next_step, close_on } = text
  const labels = { ...names, amount, next_step, close_on }
  const rows = [
    ...FIELDS.map((field) => ({
      key: field as string,
      label: labels[field],
      values: [show(kept, field), show(gone, field)] as const,
    })),
    ...own.map(({ key, label }) => ({
      key: `custom.${key}`,
      label,
      values: [String(kept.custom[key] ?? ''), String(gone.custom[key] ?? '')] as const,
    })),
  ].filter(({ values: [one, other] }) => one !== '' || other !== '')
  return (
    <>
      <div className="grid grid-cols-2 gap-x-3 gap-y-1 md:grid-cols-[8rem_1fr_1fr]">
        <span className="max-md:hidden" />
        {[kept, gone].map((lead, at) => (
          <p key={lead.id} className="min-w-0 pb-2">
            <span className="block text-xs text-muted">{at === 0 ? text.kept : text.gone}</span>
            <span className="block truncate font-medium">{nameOf(lead) || unnamed}</span>
          </p>
        ))}
        {rows.map(({ key, label, values }) => (
          <Choice
            key={key}
            field={key}
            label={label}
            values={values}
            chosen={choices[key] ?? (values[0] === '' ? 'gone' : 'kept')}
            onChoose={(side) => setChoices((before) => ({ ...before, [key]: side }))}
          />
        ))}
      </div>
      <p className="mt-4 text-sm text-muted text-pretty">{text.all}</p>
      <p className="mt-2 text-sm text-muted text-pretty">{text.way_back}</p>
      {merge.isError ? (
        <Notice tone="bad" className="mt-3" text={errorMessage(merge.error, words)} />
      ) : null}
      <Actions>
        <Button
          onClick={() => {
            setSwapped(!isSwapped)
            setChoices({})
          }}
          icon={<ArrowLeftRight size={16} aria-hidden />}
        >
          {text.swap}
        </Button>
        <span className="flex-1 max-md:hidden" />
        <Button onClick={onClose}>{cancel}</Button>
        <Button variant="primary" isPending={merge.isPending} onClick={() => merge.mutate()}>
          {text.submit}
        </Button>
      </Actions>
    </>
  )
}

function Choice({
  field,
  label,
  values,
  chosen,
  onChoose,
}: {
  field: string
  label: string
  values: readonly [string, string]
  chosen: Side
  onChoose: (side: Side) => void
}) {
  const { merge: text } = useText(mergeText)
  const { none } = useText(leadsText)
  const isSame = values[0] === values[1]
  return (
    <>
      <span className="truncate pt-1.5 text-sm text-muted max-md:col-span-2">{label}</span>
      {(['kept', 'gone'] as const).map((side, at) => {
        const value = values[at] ?? ''
        const id = `merge-${field}-${side}`
        return (
          <label
            key={side}
            htmlFor={id}
            className={cn(
              'flex min-h-8 min-w-0 items-center gap-2 rounded-control border px-2 py-1',
              isSame ? 'border-transparent' : 'border-line has-checked:border-accent',
              !isSame && chosen === side && 'bg-selected',
            )}
          >
            <input
              type="radio"
              id={id}
              name={`merge-${field}`}
              aria-label={text.take(label, value || none)}
              checked={chosen === side}
              disabled={isSame}
              onChange={() => onChoose(side)}
              className={cn('accent-(--accent)', isSame && 'invisible')}
            />
            <span className={cn('min-w-0 break-words', value === '' && 'text-muted')}>
              {value || none}
            </span>
          </label>
        )
      })}
    </>
  )
}
