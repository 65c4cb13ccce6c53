import { useQueryClient } from '@tanstack/react-query'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { type Draft, refreshDrafts } from './queries.ts'
import { sentencesText } from './sentences.text.ts'

/** Adds a fact with its source, about the recipient of a mail or about us. */
export function EvidenceDialog({
  draft,
  sentence,
  onClose,
}: {
  draft: Draft
  /** The sentence that lacks evidence; undefined: closed. */
  sentence: string | undefined
  onClose: () => void
}) {
  const text = useText(sentencesText)
  return (
    <Dialog isOpen={sentence !== undefined} onClose={onClose} title={text.dialog}>
      <EvidenceForm draft={draft} sentence={sentence ?? ''} onClose={onClose} />
    </Dialog>
  )
}

function EvidenceForm({
  draft,
  sentence,
  onClose,
}: {
  draft: Draft
  sentence: string
  onClose: () => void
}) {
  const text = useText(sentencesText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const lead_id = draft.audience.kind === 'lead' ? draft.audience.lead_id : null
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async ({ fact = '', source = '', about }) => {
        const body = {
          project: draft.project,
          lead_id: about === 'lead' ? lead_id : null,
          fact,
          source,
        }
        await ok(api.POST('/api/cockpit/evidence/add', { body }))
        await refreshDrafts(queryClient)
        onClose()
      }}
    >
      <p lang={draft.language} className="font-mail text-lg text-muted break-words">
        {sentence}
      </p>
      <FormField name="fact" label={text.fact} hint={text.fact_hint}>
        <Textarea rows={3} maxLength={1000} required className="font-mail text-lg!" />
      </FormField>
      <FormField name="source" label={text.source} hint={text.source_hint}>
        <Input maxLength={500} required />
      </FormField>
      {lead_id ? (
        <FormField name="about" label={text.about}>
          <Select
            name="about"
            options={[
              { value: 'lead', label: text.about_lead },
              { value: 'us', label: text.about_us },
            ]}
          />
        </FormField>
      ) : null}
      <FormError />
      <Actions>
        <Button type="button" variant="ghost" onClick={onClose}>
          {words.cancel}
        </Button>
        <Submit>{text.save}</Submit>
      </Actions>
    </ApiForm>
  )
}
