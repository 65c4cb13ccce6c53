import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, ProblemError } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { languageText } from './language.text.ts'
import { useLanguageOptions } from './language-select.tsx'
import { basisOf, useBasisOptions } from './lead-fields.tsx'
import { leadsText } from './leads.text.ts'
import { nameOf, refreshLeads } from './queries.ts'

/** Adds one lead by hand. If a lead with this e-mail exists, it offers that one. */
export function QuickAdd({
  isOpen,
  onClose,
  onAdded,
}: {
  isOpen: boolean
  onClose: () => void
  onAdded: (id: string) => void
}) {
  const text = useText(leadsText)
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={text.quick.title}
      description={text.quick.description}
      size="md"
    >
      <QuickAddForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  )
}

function QuickAddForm({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: (id: string) => void
}) {
  const { fields, quick: text, basis_hint } = useText(leadsText)
  const words = useText(common)
  const { slug } = useProject()
  const queryClient = useQueryClient()
  const [known, setKnown] = useState<string>()
  const bases = useBasisOptions()
  const { hint } = useText(languageText)
  const languages = useLanguageOptions()
  const [basis, setBasis] = useState('')
  return (
    <ApiForm
      onSubmit={async ({ lawful_basis = '', ...values }) => {
        setKnown(undefined)
        const filled = Object.fromEntries(
          Object.entries(values).filter(([, value]) => value !== ''),
        )
        const meant = basisOf(lawful_basis)
        try {
          const { lead } = await ok(
            api.POST('/api/cockpit/lead/quick_add', {
              body: { slug, data: { ...filled, ...(meant ? { lawful_basis: meant } : {}) } },
            }),
          )
          toast(text.added(nameOf(lead)))
          await refreshLeads(queryClient)
          onAdded(lead.id)
        } catch (error) {
          if (error instanceof ProblemError) setKnown(leadIn(error.problem))
          throw error
        }
      }}
    >
      <div className="grid gap-4 md:grid-cols-2">
        <FormField name="name" label={fields.name}>
          <Input maxLength={200} />
        </FormField>
        <FormField name="email" label={fields.email}>
          <Input inputMode="email" maxLength={320} />
        </FormField>
        <FormField name="company" label={fields.company}>
          <Input maxLength={200} />
        </FormField>
        <FormField name="title" label={fields.title} isOptional>
          <Input maxLength={200} />
        </FormField>
        <FormField name="website" label={fields.website} isOptional>
          <Input inputMode="url" maxLength={500} />
        </FormField>
        <FormField name="country" label={fields.country} isOptional>
          <Input maxLength={100} />
        </FormField>
        <FormField name="language" label={fields.language} hint={hint} isOptional>
          <Select options={languages} />
        </FormField>
        <FormField name="source" label={fields.source} isOptional>
          <Input maxLength={200} />
        </FormField>
        <FormField name="lawful_basis" label={fields.lawful_basis} hint={basis_hint} isOptional>
          <Select options={bases} value={basis} onChange={({ target }) => setBasis(target.value)} />
        </FormField>
        {basis === 'legitimate_interest' ? (
          <FormField name="basis_note" label={fields.basis_note} className="md:col-span-2">
            <Input maxLength={1000} />
          </FormField>
        ) : null}
      </div>
      <FormError className="mt-4" />
      {known ? (
        <Button size="sm" className="mt-2" onClick={() => onAdded(known)}>
          {text.open_known}
        </Button>
      ) : null}
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit>{text.submit}</Submit>
      </Actions>
    </ApiForm>
  )
}

/** The lead that a 409 names as the one with this e-mail. */
function leadIn(problem: object): string | undefined {
  if (!('lead' in problem) || typeof problem.lead !== 'object' || !problem.lead) return undefined
  return 'id' in problem.lead && typeof problem.lead.id === 'string' ? problem.lead.id : undefined
}
