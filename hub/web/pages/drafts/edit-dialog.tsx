import { useQueryClient } from '@tanstack/react-query'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { stepsText } from './drafts.text.ts'
import { type Draft, refreshDrafts } from './queries.ts'
import { slotsText } from './slots.text.ts'
import { fieldsOf, type SlotField, withFields } from './slots.ts'

type Props = { draft: Draft; isOpen: boolean; onClose: () => void; onSaved: () => void }

/** Edits the text of a draft; it is then rendered again and must be approved again. */
export function EditDialog({ draft, isOpen, onClose, onSaved }: Props) {
  const text = useText(stepsText)
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={text.edit_title} size="lg">
      <EditForm draft={draft} onClose={onClose} onSaved={onSaved} />
    </Dialog>
  )
}

function EditForm({ draft, onClose, onSaved }: Omit<Props, 'isOpen'>) {
  const text = useText(stepsText)
  const words = useText(common)
  const names = useText(slotsText)
  const queryClient = useQueryClient()
  const fields = fieldsOf(draft.slots)
  const isPlain = fields.length === 0
  const labelOf = (path: SlotField['path']) =>
    path
      .map((key) =>
        typeof key === 'number'
          ? String(key + 1)
          : Object.hasOwn(names, key)
            ? names[key as keyof typeof names] // safe: checked in the condition
            : key,
      )
      .join(' · ')
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async (values) => {
        const ref = { id: draft.id, project: draft.project }
        if (isPlain) {
          const { subject = '', text = '' } = values
          await ok(api.POST('/api/cockpit/draft/edit', { body: { ...ref, subject, text } }))
        } else {
          const written = fields.map((field) => ({
            ...field,
            value: values[field.path.join('.')] ?? field.value,
          }))
          const slots = withFields(draft.slots, written)
          const subject = typeof slots.subject === 'string' ? slots.subject : draft.subject
          await ok(api.POST('/api/cockpit/draft/edit', { body: { ...ref, subject, slots } }))
        }
        try {
          await ok(api.POST('/api/cockpit/draft/render', { body: ref }))
        } finally {
          await refreshDrafts(queryClient)
        }
        onSaved()
      }}
    >
      {draft.approved_at ? <Notice tone="warn" text={text.edit_voids} /> : null}
      {isPlain ? (
        <>
          <FormField name="subject" label={names.subject}>
            <Input defaultValue={draft.subject} maxLength={150} />
          </FormField>
          <FormField name="text" label={text.text} hint={text.text_hint}>
            <Textarea
              defaultValue={draft.text}
              rows={12}
              maxLength={20_000}
              className="font-mail text-lg!"
            />
          </FormField>
        </>
      ) : (
        fields.map(({ path, kind, value }) => (
          <FormField
            key={path.join('.')}
            name={path.join('.')}
            label={labelOf(path)}
            hint={kind === 'paragraphs' ? text.text_hint : undefined}
          >
            {kind === 'paragraphs' || value.length > 90 ? (
              <Textarea
                defaultValue={value}
                rows={kind === 'paragraphs' ? 6 : 2}
                className="font-mail text-lg!"
              />
            ) : (
              <Input defaultValue={value} />
            )}
          </FormField>
        ))
      )}
      <FormError />
      <Actions className="mt-2">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit>{words.save}</Submit>
      </Actions>
    </ApiForm>
  )
}

/** Asks why a draft is rejected. */
export function RejectDialog({ draft, isOpen, onClose, onSaved }: Props) {
  const text = useText(stepsText)
  const words = useText(common)
  const queryClient = useQueryClient()
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={text.reject_title}
      description={text.reject_text}
    >
      <ApiForm
        onSubmit={async ({ reason }) => {
          const body = { id: draft.id, project: draft.project, reason: reason || null }
          await ok(api.POST('/api/cockpit/draft/reject', { body }))
          await refreshDrafts(queryClient)
          onSaved()
        }}
      >
        <FormField name="reason" label={text.reason} isOptional>
          <Textarea rows={3} maxLength={500} />
        </FormField>
        <FormError className="mt-4" />
        <Actions>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Submit variant="danger">{text.reject}</Submit>
        </Actions>
      </ApiForm>
    </Dialog>
  )
}
