import { useState } from 'react'
import { ApiForm } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { DateInput } from '../../../../../web/ui/dates/inputs.tsx'
import { Field, Input, Textarea } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { Select } from '../../../../../web/ui/select.tsx'
import { api, formOf, ok, type Schemas } from '../../../api/client.ts'
import { useProject } from '../../../project.ts'
import { BASES } from '../basis-dialog.tsx'
import { dealText } from '../deal.text.ts'
import type { OwnField } from '../deal-queries.ts'
import { useBasisOptions } from '../lead-fields.tsx'
import { leadsText } from '../leads.text.ts'
import { importText } from './import.text.ts'

type NamedField = keyof (typeof importText)['en']['fields']
type ImportField = NamedField | `custom.${string}`
export type Preview = {
  columns: string[]
  rows: string[][]
  mapping: Partial<Record<ImportField, string>>
  fields: NamedField[]
  /** The fields of the project's own. */
  own: OwnField[]
  facts: string[]
  max_facts: number
}
/** What becomes of a column: a field, a fact of the lead, or nothing. */
type Fate = ImportField | 'fact' | 'none'

const NAMING: NamedField[] = ['name', 'first_name', 'last_name', 'email', 'company', 'id']

/** The field of each column, as the hub suggests, for the admin to correct. */
export function ImportMapping({
  file,
  preview,
  onBack,
  onRunning,
}: {
  file: File
  preview: Preview
  onBack: () => void
  onRunning: (id: string) => void
}) {
  const text = useText(importText)
  const leads = useText(leadsText)
  const { slug: project } = useProject()
  const bases = useBasisOptions()
  const deals = useText(dealText)
  const [basis, setBasis] = useState('')
  const meant = BASES.find((one) => one === basis)
  const targets: { value: ImportField; label: string }[] = [
    ...preview.fields.map((value) => ({ value, label: text.fields[value] })),
    ...preview.own.map(({ key, label }) => ({ value: `custom.${key}` as const, label })),
  ]
  const [fates, setFates] = useState(() => fatesOf(preview))
  const columnsOf = (fate: Fate) => preview.columns.filter((column) => fates[column] === fate)
  const isNamed = NAMING.some((field) => columnsOf(field).length > 0)
  const facts = columnsOf('fact')
  const hasBases = columnsOf('lawful_basis').length > 0
  const over = facts.slice(preview.max_facts)
  const assign = (column: string, fate: Fate) => {
    const next: Record<string, Fate> = { ...fates, [column]: fate }
    // A field is read from only one column, so it moves here.
    for (const other of preview.columns) {
      const isField = fate !== 'fact' && fate !== 'none'
      if (isField && next[other] === fate && other !== column) next[other] = 'fact'
    }
    setFates(next)
  }
  return (
    <ApiForm
      onSubmit={async ({ duplicates = 'skip', lawful_basis = '', tags = '', ...rest }) => {
        const chosen = targets.flatMap(({ value }) =>
          columnsOf(value).map((column) => [value, column]),
        )
        const { import: run } = await ok(
          api.POST('/api/cockpit/leads/import', {
            body: formOf({
              file,
              project,
              duplicates,
              lawful_basis,
              basis_note: rest.basis_note ?? '',
              ...(lawful_basis
                ? {
                    basis_source: rest.basis_source ?? '',
                    basis_on: rest.basis_on ?? '',
                  }
                : {}),
              tags,
              mapping: JSON.stringify(Object.fromEntries(chosen)),
              facts: JSON.stringify(facts),
            }),
          }),
        )
        onRunning((run satisfies Schemas['Import']).id)
      }}
    >
      <div className="overflow-hidden rounded-control border border-line">
        <div className="grid grid-cols-[1fr_1fr] gap-3 border-b border-line bg-surface px-3 py-2 text-xs font-medium text-muted md:grid-cols-[1fr_1.2fr_12rem]">
          <span>{text.column}</span>
          <span className="max-md:hidden">{text.sample}</span>
          <span>{text.is}</span>
        </div>
        <ul className="max-h-[40vh] overflow-y-auto">
          {preview.columns.map((column, at) => (
            <li
              key={column}
              className="grid grid-cols-[1fr_1fr] items-center gap-3 border-b border-line px-3 py-1.5 last:border-0 md:grid-cols-[1fr_1.2fr_12rem]"
            >
              <span className="min-w-0">
                <span className="block truncate font-medium">{column}</span>
                <span className="block truncate text-sm text-muted md:hidden">
                  {sample(preview.rows, at)}
                </span>
              </span>
              <span className="truncate text-muted max-md:hidden">{sample(preview.rows, at)}</span>
              <Select
                aria-label={`${text.is}: ${column}`}
                value={fates[column] ?? 'none'}
                onChange={(event) =>
                  assign(
                    column,
                    event.target.value === 'fact'
                      ? 'fact'
                      : (targets.find(({ value }) => value === event.target.value)?.value ??
                          'none'),
                  )
                }
                options={[
                  { value: 'fact', label: text.fact },
                  { value: 'none', label: text.ignore },
                  ...targets,
                ]}
              />
            </li>
          ))}
        </ul>
      </div>
      {facts.length > 0 ? (
        <p className="mt-2 text-sm text-muted text-pretty">{text.facts}</p>
      ) : null}
      {over.length > 0 ? (
        <Notice tone="warn" className="mt-3" text={text.over(preview.max_facts, over.join(', '))} />
      ) : null}
      {isNamed ? null : <Notice tone="warn" className="mt-3" text={text.needed} />}
      <div className="mt-5 grid gap-4 md:grid-cols-3">
        <Field name="duplicates" label={text.duplicates}>
          <Select
            defaultValue="skip"
            options={(['skip', 'merge', 'update'] as const).map((value) => ({
              value,
              label: text.duplicate[value],
            }))}
          />
        </Field>
        <Field name="lawful_basis" label={leads.fields.lawful_basis}>
          <Select value={basis} onChange={({ target }) => setBasis(target.value)} options={bases} />
        </Field>
        <FormField name="tags" label={text.tags} hint={leads.tags_hint} isOptional>
          <Input />
        </FormField>
      </div>
      {meant ? <p className="mt-4 text-sm text-muted text-pretty">{deals.meaning[meant]}</p> : null}
      {meant === 'legitimate_interest' || hasBases ? (
        <FormField
          name="basis_note"
          label={deals.bulk.note}
          hint={hasBases ? text.note_hint : undefined}
          isOptional={meant !== 'legitimate_interest'}
          className="mt-4"
        >
          <Textarea rows={2} maxLength={1000} />
        </FormField>
      ) : null}
      {meant ? (
        <div className="mt-4 grid gap-4 md:grid-cols-2">
          <FormField
            name="basis_source"
            label={deals.bulk.source}
            hint={deals.bulk.source_hint}
            isOptional
          >
            <Input maxLength={500} />
          </FormField>
          <FormField name="basis_on" label={deals.bulk.on} isOptional>
            <DateInput />
          </FormField>
        </div>
      ) : null}
      <FormError className="mt-4" />
      <Actions>
        <Button onClick={onBack}>{text.another}</Button>
        <Submit disabled={!isNamed}>{text.submit}</Submit>
      </Actions>
    </ApiForm>
  )
}

function fatesOf({ columns, mapping, fields, own, facts }: Preview): Record<string, Fate> {
  const targets: ImportField[] = [...fields, ...own.map(({ key }) => `custom.${key}` as const)]
  const fieldOf = (column: string) => targets.find((field) => mapping[field] === column)
  return Object.fromEntries(
    columns.map((column) => [
      column,
      fieldOf(column) ?? (facts.includes(column) ? 'fact' : 'none'),
    ]),
  )
}

/** The first cell of a column that is not empty. */
function sample(rows: string[][], at: number): string {
  return rows.find((row) => row[at]?.trim())?.[at] ?? ''
}
