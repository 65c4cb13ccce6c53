import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm, useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { brandQuery, mailQuery, useIsAdmin, useIsReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { Card } from '../settings/section.tsx'
import { brandText } from './brand.text.ts'

/** The project's list in listmonk; shown once listmonk is set up. */
export function BrandList({ view: { list } }: { view: Schemas['ProjectBrand'] }) {
  const { list: text, saved } = useText(brandText)
  const words = useText(common)
  const { slug, read_only } = useProject()
  const isAdmin = useIsAdmin()
  const isReadOnly = useIsReadOnly() || read_only || !isAdmin
  const queryClient = useQueryClient()
  const say = useToastError()
  const mail = useQuery(mailQuery)
  const refresh = () => queryClient.invalidateQueries({ queryKey: brandQuery(slug).queryKey })
  const create = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/projects/listmonk_list', { body: { slug } })),
    onSuccess: ({ list }) => toast(text.there(list.name, list.list_id)),
    onError: say,
    onSettled: refresh,
  })
  if (!mail.data?.mail.listmonk) return null
  return (
    <Card
      title={text.title}
      text={list ? text.there(list.name, list.list_id) : text.text}
      action={
        list ? undefined : (
          <Button
            size="sm"
            disabled={isReadOnly}
            isPending={create.isPending}
            onClick={() => create.mutate()}
          >
            {text.create}
          </Button>
        )
      }
    >
      <ApiForm
        key={list?.list_id}
        onSubmit={async ({ list_id }) => {
          const body = { slug, list_id: list_id ? Number(list_id) : null }
          await ok(api.PUT('/api/cockpit/projects/brand', { body }))
          await refresh()
          toast(saved)
        }}
      >
        <FormField
          name="list_id"
          label={text.number}
          hint={text.number_hint}
          className="max-w-64"
          isOptional
        >
          <Input inputMode="numeric" defaultValue={list?.list_id ?? ''} maxLength={9} />
        </FormField>
        <FormError className="mt-3" />
        <Actions className="mt-3">
          <Submit variant="secondary" disabled={isReadOnly}>
            {words.save}
          </Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}
