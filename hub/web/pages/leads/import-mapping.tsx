import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Field, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { api, formOf, ok, type Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { importText } from './import.text.ts'
import { useBasisOptions } from './lead-fields.tsx'
import { leadsText } from './leads.text.ts'

type ImportField = keyof (typeof importText)['en']['fields']
export type Preview = {
  columns: string[]
  rows: string[][]
  mapping: Partial<Record<ImportField, string>>
  fields: ImportField[]
}

const NAMING: ImportField[] = ['name', 'first_name', 'last_name', 'email', 'company', 'id']

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
  const [mapping, setMapping] = useState(() => byColumn(preview.mapping))
  const isNamed = Object.values(mapping).some((field) => field && NAMING.includes(field))
  const assign = (column: string, field: ImportField | '') => {
    const next: Record<string, ImportField | ''> = { ...mapping, [column]: field }
    // A field is read from only one column, so it moves here.
    for (const [other, known] of Object.entries(next)) {
      if (field !== '' && known === field && other !== column) next[other] = ''
    }
    setMapping(next)
  }
  return (
    <ApiForm
      onSubmit={async ({ duplicates = 'skip', lawful_basis = '', tags = '' }) => {
        const chosen = Object.entries(mapping).filter(([, field]) => field !== '')
        const { import: run } = await ok(
          api.POST('/api/cockpit/leads/import', {
            body: formOf({
              file,
              project,
              duplicates,
              lawful_basis,
              tags,
              mapping: JSON.stringify(
                Object.fromEntries(chosen.map(([column, field]) => [field, column])),
              ),
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
                value={mapping[column] ?? ''}
                onChange={(event) =>
                  assign(column, preview.fields.find((one) => one === event.target.value) ?? '')
                }
                options={[
                  { value: '', label: text.ignore },
                  ...preview.fields.map((field) => ({ value: field, label: text.fields[field] })),
                ]}
              />
            </li>
          ))}
        </ul>
      </div>
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
          <Select defaultValue="" options={bases} />
        </Field>
        <FormField name="tags" label={text.tags} hint={leads.tags_hint} isOptional>
          <Input />
        </FormField>
      </div>
      <FormError className="mt-4" />
      <Actions>
        <Button onClick={onBack}>{text.another}</Button>
        <Submit disabled={!isNamed}>{text.submit}</Submit>
      </Actions>
    </ApiForm>
  )
}

function byColumn(mapping: Preview['mapping']): Record<string, ImportField | ''> {
  return Object.fromEntries(
    Object.entries(mapping).map(([field, column]) => [column, field as ImportField]), // safe: the keys of a mapping
  )
}

/** The first cell of a column that is not empty. */
function sample(rows: string[][], at: number): string {
  return rows.find((row) => row[at]?.trim())?.[at] ?? ''
}
