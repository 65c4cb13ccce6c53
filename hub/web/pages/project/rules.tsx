import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { nameText } from '../../../agents/names.text.ts'
import { api, ok } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { projectText } from './project.text.ts'

const MAX_RULES = 4000

/** The rules that were approved for this project, for each agent that has some. */
export function ProjectRules() {
  const { rules: text } = useText(projectText)
  const words = useText(common)
  const names = useText(nameText)
  const { slug, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const queryClient = useQueryClient()
  const queryKey = ['rules', slug]
  const query = useQuery({
    queryKey,
    queryFn: async () => {
      const params = { query: { project: slug } }
      return (await ok(api.GET('/api/cockpit/projects/rules', { params }))).rules
    },
  })
  if (!query.data?.length) return null
  return (
    <section className="flex flex-col gap-4 border-t border-line pt-6">
      <div>
        <h2>{text.title}</h2>
        <p className="mt-0.5 text-muted text-pretty">{text.text}</p>
      </div>
      {query.data.map(({ agent, text: rules }) => (
        <ApiForm
          key={agent}
          onSubmit={async (values) => {
            const body = { slug, agent, text: values.text ?? '' }
            const saved = await ok(api.PUT('/api/cockpit/projects/rules', { body }))
            queryClient.setQueryData(queryKey, saved.rules)
            toast(text.saved)
          }}
        >
          <FormField name="text" label={text.of(names[agent])}>
            <Textarea defaultValue={rules} rows={4} maxLength={MAX_RULES} disabled={isReadOnly} />
          </FormField>
          <FormError className="mt-3" />
          <Actions className="mt-3">
            <Submit variant="secondary" disabled={isReadOnly}>
              {words.save}
            </Submit>
          </Actions>
        </ApiForm>
      ))}
    </section>
  )
}
