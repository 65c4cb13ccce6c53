import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { FormError, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { audienceText } from './audience.text.ts'
import { LeadChoice, ListChoice } from './audience-fields.tsx'
import { stepsText } from './drafts.text.ts'
import { type Asked, audienceQuery, type Draft, refreshDrafts } from './queries.ts'
import { RecipientPreview } from './recipients.tsx'

type Props = { draft: Draft; isOpen: boolean; onClose: () => void }

/** Chooses other recipients for a draft, and shows how many there are before anything changes. */
export function AudienceDialog({ draft, isOpen, onClose }: Props) {
  const text = useText(audienceText)
  const isForOneLead = draft.audience.kind === 'lead'
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={isForOneLead ? text.other_lead : text.other_people}
      description={isForOneLead ? text.text_stays : undefined}
      size="md"
    >
      <AudienceForm draft={draft} onClose={onClose} />
    </Dialog>
  )
}

function AudienceForm({ draft, onClose }: Omit<Props, 'isOpen'>) {
  const text = useText(audienceText)
  const steps = useText(stepsText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState(() => askedOf(draft.audience))
  const isNobody = draft.audience.kind === 'lead' && !asked.lead_id
  const { data } = useQuery({ ...audienceQuery(draft, asked), enabled: !isNobody })
  const recipients = isNobody ? undefined : data?.recipients
  const Choice = draft.audience.kind === 'lead' ? LeadChoice : ListChoice
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async () => {
        const ref = { id: draft.id, project: draft.project }
        const body = { ...ref, audience: audienceOf(draft.audience, asked) }
        await ok(api.POST('/api/cockpit/draft/edit', { body }))
        try {
          await ok(api.POST('/api/cockpit/draft/render', { body: ref }))
        } finally {
          await refreshDrafts(queryClient)
        }
        onClose()
      }}
    >
      {draft.approved_at ? <Notice tone="warn" text={steps.edit_voids} /> : null}
      <Choice draft={draft} asked={asked} choices={data?.choices} onChange={setAsked} />
      <div aria-live="polite" className="min-h-7">
        {recipients ? (
          <>
            <p className="mb-1 font-medium" data-numbers>
              {text.get_it(recipients.will_get_it, recipients.total)}
            </p>
            <RecipientPreview recipients={recipients} />
          </>
        ) : null}
      </div>
      <FormError />
      <Actions className="mt-0">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit disabled={!recipients?.will_get_it}>{words.save}</Submit>
      </Actions>
    </ApiForm>
  )
}

/** The choices of a form for an audience. */
export function askedOf(audience: Draft['audience']): Asked {
  if (audience.kind === 'lead') return {}
  const { lead_ids, answered, ...filter } = audience.filter
  return {
    ...filter,
    ...(answered === undefined ? {} : { answered: answered ? 'true' : 'false' }),
    ...(lead_ids ? { is_chosen: 'true' } : {}),
  }
}

/** The audience that the choices of a form mean. */
export function audienceOf(now: Draft['audience'], asked: Asked): Draft['audience'] {
  const { lead_id, is_chosen, answered, ...filter } = asked
  if (lead_id) return { kind: 'lead', lead_id }
  const lead_ids = is_chosen && now.kind === 'list' ? now.filter.lead_ids : undefined
  return {
    kind: 'list',
    filter: {
      ...filter,
      ...(answered ? { answered: answered === 'true' } : {}),
      ...(lead_ids ? { lead_ids } : {}),
    },
  }
}
