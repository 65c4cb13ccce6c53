import { useQueryClient } from '@tanstack/react-query'
import { ApiForm } from '../../../../../web/shared/errors.tsx'
import { Input } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { api, ok } from '../../../api/client.ts'
import { type ModelsOverview, modelsQuery } from '../../../api/queries.ts'
import { Card } from '../section.tsx'
import { modelsText } from './models.text.ts'

/** A model that is not among the presets, by its address. */
export function ModelAddress({ models: { download } }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  const queryClient = useQueryClient()
  return (
    <Card title={text.address} text={text.address_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ url = '', sha256 }) => {
          const body = { url, ...(sha256 ? { sha256 } : {}), use: true }
          await ok(api.POST('/api/cockpit/model/download', { body }))
          await queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey })
        }}
      >
        <FormField name="url" label={text.url}>
          <Input inputMode="url" spellCheck={false} placeholder="https://…/model.gguf" />
        </FormField>
        <FormField name="sha256" label={text.sha256} hint={text.sha256_hint} isOptional>
          <Input className="font-mono" spellCheck={false} maxLength={64} />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit variant="secondary" disabled={download?.status === 'processing'}>
            {text.fetch}
          </Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}
