import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, errorMessage, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { IconButton } from '../../../../web/ui/button.tsx'
import { ConfirmByName } from '../../../../web/ui/confirm.tsx'
import { Field, Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { useWords } from '../../../../web/ui/words.tsx'
import { api, ok } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { dealText } from '../leads/deal.text.ts'
import { fieldsQuery, type OwnField } from '../leads/deal-queries.ts'
import { refreshLeads } from '../leads/queries.ts'
import { keyOf } from './own-field-key.ts'

const KINDS = ['text', 'number', 'date', 'choice', 'yes_no'] as const

/** The fields that this project has for its leads, beside those of every lead. */
export function OwnFieldsSettings() {
  const { lead_fields: text } = useText(dealText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const query = useQuery(fieldsQuery(slug))
  const [doomed, setDoomed] = useState<OwnField>()
  return (
    <section className="border-t border-line pt-5">
      <h2>{text.title}</h2>
      <p className="mt-0.5 mb-4 max-w-2xl text-muted text-pretty">{text.text}</p>
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <>
          {query.data.length === 0 ? <p className="text-muted">{text.none}</p> : null}
          <ul className="flex flex-col">
            {query.data.map((field) => (
              <li
                key={field.key}
                className="flex items-center gap-3 border-line py-2 not-last:border-b"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{field.label}</span>
                  <span className="block truncate text-sm text-muted">
                    {[text.kinds[field.kind], ...(field.choices ?? [])].join(' · ')}
                  </span>
                </span>
                <code className="text-sm text-muted">{`{${field.key}}`}</code>
                <IconButton
                  label={`${text.remove}: ${field.label}`}
                  disabled={isReadOnly}
                  onClick={() => setDoomed(field)}
                >
                  <Trash2 size={16} aria-hidden />
                </IconButton>
              </li>
            ))}
          </ul>
          {isReadOnly ? null : <AddField key={query.data.length} fields={query.data} />}
        </>
      )}
      {doomed ? <RemoveField field={doomed} onClose={() => setDoomed(undefined)} /> : null}
    </section>
  )
}

function AddField({ fields }: { fields: OwnField[] }) {
  const { lead_fields: text } = useText(dealText)
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<OwnField['kind']>('text')
  return (
    <ApiForm
      className="mt-4"
      onSubmit={async ({ label = '', choices = '' }) => {
        const added = {
          key: keyOf(
            label,
            fields.map(({ key }) => key),
          ),
          label,
          kind,
          choices: [...new Set(choices.split(',').map((one) => one.trim()))].filter(Boolean),
        }
        await ok(
          api.PUT('/api/cockpit/leads/fields', { body: { project, fields: [...fields, added] } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['fields'] })
        toast(text.added(label))
      }}
    >
      <div className="grid items-start gap-4 md:grid-cols-3">
        <FormField name="label" label={text.label}>
          <Input maxLength={60} />
        </FormField>
        <Field label={text.kind}>
          <Select
            value={kind}
            onChange={({ target }) => setKind(KINDS.find((one) => one === target.value) ?? 'text')}
            options={KINDS.map((value) => ({ value, label: text.kinds[value] }))}
          />
        </Field>
        {kind === 'choice' ? (
          <FormField name="choices" label={text.choices}>
            <Input maxLength={1000} />
          </FormField>
        ) : null}
      </div>
      <FormError className="mt-3" />
      <Actions className="mt-4">
        <Submit variant="secondary">{text.add}</Submit>
      </Actions>
    </ApiForm>
  )
}

function RemoveField({ field, onClose }: { field: OwnField; onClose: () => void }) {
  const { lead_fields: text } = useText(dealText)
  const words = useWords()
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const remove = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/leads/fields/remove', {
          body: { project, key: field.key, label: field.label },
        }),
      ),
    onSuccess: async ({ values }) => {
      await queryClient.invalidateQueries({ queryKey: ['fields'] })
      await refreshLeads(queryClient)
      toast(text.removed(values))
      onClose()
    },
  })
  return (
    <ConfirmByName
      title={text.remove}
      text={text.remove_text(field.label)}
      label={`${text.type_label}: ${field.label}`}
      name={field.label}
      action={text.remove}
      failure={remove.isError ? errorMessage(remove.error, words) : undefined}
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  )
}
