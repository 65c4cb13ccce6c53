import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm, useToastError } from '../../../../web/shared/errors.tsx'
import { Field, Input, Switch } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { promptsText } from './prompts.text.ts'
import { Card } from './section.tsx'

const MAY = ['settings', 'agents']

/** What agents may do; see docs/hub/agents.md. */
export function May() {
  const text = useText(promptsText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const say = useToastError()
  const query = useQuery({
    queryKey: MAY,
    queryFn: async () => (await ok(api.GET('/api/cockpit/settings/agents'))).agents,
  })
  const change = useMutation({
    mutationFn: async (part: Partial<NonNullable<typeof query.data>>) => {
      if (!query.data) return
      await ok(api.PUT('/api/cockpit/settings/agents', { body: { ...query.data, ...part } }))
    },
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: MAY }),
  })
  const now = query.data
  if (!now) return null
  const options = <T extends string>(values: Record<T, string>) =>
    (Object.keys(values) as T[]).map((value) => ({ value, label: values[value] })) // safe: its own keys
  return (
    <Card title={text.may}>
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={text.web}>
          <Select
            value={now.web}
            options={options(text.web_values)}
            onChange={(event) => change.mutate({ web: event.target.value as typeof now.web })} // safe: our own options
          />
        </Field>
        <Field label={text.improve}>
          <Select
            value={now.improve}
            options={options(text.improve_values)}
            onChange={(event) =>
              change.mutate({ improve: event.target.value as typeof now.improve })
            } // safe: our own options
          />
        </Field>
        <ApiForm
          key={now.search ?? ''}
          className="flex flex-col gap-2 md:col-span-2"
          onSubmit={async ({ search = '' }) => {
            await ok(
              api.PUT('/api/cockpit/settings/agents', {
                body: { ...now, search: search.trim() || null },
              }),
            )
            await queryClient.invalidateQueries({ queryKey: MAY })
            toast(words.saved)
          }}
        >
          <FormField name="search" label={text.search} hint={text.search_hint} isOptional>
            <Input
              type="url"
              maxLength={500}
              placeholder="https://search.example.com"
              defaultValue={now.search ?? ''}
            />
          </FormField>
          <FormError />
          <div>
            <Submit variant="secondary">{text.search_save}</Submit>
          </div>
        </ApiForm>
        <div className="flex items-center gap-3 md:col-span-2">
          <Switch
            label={text.engineer}
            isOn={now.engineer_system}
            onChange={(engineer_system) => change.mutate({ engineer_system })}
          />
          <p>
            {text.engineer} <span className="text-sm text-muted">{text.engineer_text}</span>
          </p>
        </div>
      </div>
    </Card>
  )
}
